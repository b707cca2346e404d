import { hash } from 'node:crypto';
import { HOUR_COLUMNS } from '../../../../clickhouse/tables.ts';
import { placedRow, type Seen } from '../seen.ts';
import { isKept } from './hours.ts';

const NO_ACCOUNT = 'none';

/** What hours keep of a state: two that have the same are one to whoever reads them. */
export function stateHash(seen: Seen): string {
  const { table, reading } = seen;
  if (reading === 'missing' || table === '' || !isKept(table)) return NO_ACCOUNT;
  const columns = placedRow(seen).row as unknown as Record<string, unknown>;
  return hash(
    'sha256',
    JSON.stringify([table, ...HOUR_COLUMNS[table].map((name) => columns[name])]),
    'base64',
  );
}
