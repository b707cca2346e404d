import { readConfig } from './config.ts';
import type { Environment } from './reader.ts';

/** The names of all variables that the configuration looks at. */
export function readVariables(): Set<string> {
  const looked = new Set<string>();
  const environment = new Proxy({}, { get: (_, name) => void looked.add(String(name)) });
  readConfig(environment);
  return new Set([...looked].filter((name) => !name.endsWith('_FILE')));
}

/** Whether a variable is set, directly or through its `_FILE` variable. */
export function isSet(name: string, env: Environment): boolean {
  return (env[name] ?? '') !== '' || (env[`${name}_FILE`] ?? '') !== '';
}
