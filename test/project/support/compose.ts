import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

export const ROOT = path.resolve(import.meta.dirname, '../../..');

export interface Service {
  image: string;
  build?: string;
  command?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  restart?: string;
  stop_grace_period?: string;
  mem_limit?: string;
  profiles?: string[];
  environment?: Record<string, string | number>;
  env_file?: { path: string }[];
  secrets?: string[];
  volumes?: string[];
  networks?: string[];
  ports?: string[];
  deploy?: { replicas?: number | string };
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test?: string[]; disable?: boolean };
}

export interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, object>;
  secrets: Record<string, { file: string }>;
}

export const textOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** docker-compose.yml as Compose sees it where nothing is set in the environment and no `.env` is there. */
export function readCompose(): Compose {
  return withDefaults(parse(textOf('docker-compose.yml'), { merge: true })) as Compose;
}

function withDefaults(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
  if (Array.isArray(value)) return value.map(withDefaults);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withDefaults(inner)]));
}

/** The variables of a file of NAME=value lines. */
export function readEnvFile(file: string): Record<string, string> {
  const lines = textOf(file).matchAll(/^([A-Z_]+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
}

/** The services that run our own processes, in every profile. */
export function ourServices(compose: Compose): [string, Service][] {
  return Object.entries(compose.services).filter(([, service]) => service.build !== undefined);
}
