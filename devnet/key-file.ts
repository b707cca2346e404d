import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from './chain/directory.ts';

/** Writes a secret key as a JSON list of 64 bytes, readable by its owner alone. @returns where it is. */
export function writeKeyFile(dir: string, secretKey: Uint8Array): string {
  const file = path.join(dir, 'agent.json');
  makeDirectory(dir);
  // The mode counts only for a file that is made.
  rmSync(file, { force: true });
  writeFileSync(file, `${JSON.stringify([...secretKey])}\n`, { mode: 0o600, flag: 'wx' });
  return file;
}
