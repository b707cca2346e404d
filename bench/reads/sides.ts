import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Child, startChild } from '../support/child.ts';
import type { Load, Loaded } from './load.ts';

/** A server that readers are run against. */
export interface Side {
  child: Child;
  url: string;
}

export async function open(
  file: string,
  args: readonly string[],
  flags: readonly string[] = [],
): Promise<Side> {
  const child = startChild(file, args, flags);
  const { port } = await child.heard<{ port: number }>();
  return { child, url: `http://127.0.0.1:${port}` };
}

/** Our API, in a process with the flags of `npm run api`. */
export function openOurs(place: string, policies: number, updates: number): Promise<Side> {
  const { scripts } = JSON.parse(readFileSync(path.resolve('package.json'), 'utf8')) as {
    scripts: { api: string };
  };
  const flags = scripts.api.split(' ').filter((word) => word.startsWith('--'));
  return open('bench/reads/product.ts', [place, String(policies), String(updates)], flags);
}

/** How many different answers the bare server sends in turn, since their sizes differ. */
const SAMPLE = 60;

/** A server that only sends the bytes that another one answered. */
export async function bareOf(side: Side, paths: readonly string[], directory: string): Promise<Side> {
  const files: string[] = [];
  for (const pathname of paths.slice(0, SAMPLE)) {
    const answer = await fetch(side.url + pathname);
    if (answer.status !== 200) throw new Error(`${pathname} answered ${answer.status}`);
    const file = path.join(directory, `body-${Math.random().toString(36).slice(2)}`);
    writeFileSync(file, await answer.text());
    files.push(file);
  }
  return open('bench/reads/bare.ts', files);
}

export type Asked = Omit<Load, 'url' | 'headers' | 'rate'> & Partial<Pick<Load, 'headers' | 'rate'>>;

/** Runs readers against a server, in a process of their own. */
export async function load({ url }: Pick<Side, 'url'>, asked: Asked): Promise<Loaded> {
  const child = startChild('bench/reads/load.ts');
  const loaded = await child.ask<Loaded>({ headers: {}, rate: null, ...asked, url });
  await child.stop();
  return loaded;
}

/** Text for a benchmark's line. */
export const failedOf = ({ failed }: Pick<Loaded, 'failed'>): string =>
  failed === 0 ? '' : `, ${failed} FAILED`;
