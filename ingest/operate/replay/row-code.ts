import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../../..');
/**
 * By code of these a record becomes rows. They hold more: to begin anew for nothing is better than rows of two
 * versions.
 */
const FOLDERS = ['schemas', 'clickhouse', 'ingest/log', 'ingest/materialise'] as const;
const CODE = /\.(ts|sql|json|xml)$/;

/** A hash of the code that makes rows of the log: by other code the same log may become other rows. */
export function rowCode(): string {
  const hash = createHash('sha256');
  for (const folder of FOLDERS) {
    const names = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((one) => CODE.test(one)).sort()) {
      const bytes = readFileSync(path.join(ROOT, folder, name));
      hash.update(JSON.stringify([folder, name, bytes.length])).update(bytes);
    }
  }
  return hash.digest('hex');
}
