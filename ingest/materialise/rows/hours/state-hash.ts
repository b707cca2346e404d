import { hash } from 'node:crypto';
import { HOUR_COLUMNS } from '../../../../clickhouse/tables.ts';
import { placedRow, type SeenState } from '../seen.ts';
import { isKept } from './hours.ts';

const NO_ACCOUNT = 'none';

/** A hash of what hours keep of a state: to readers of hours two states with the same hash are one. */
export function stateHash(seen: SeenState): string {
  const { table, reading } = seen;
  if (reading === 'missing' || table === '' || !isKept(table)) return NO_ACCOUNT;
  const columns = placedRow(seen).row as unknown as Record<string, unknown>;
  return hash(
    'sha256',
    JSON.stringify([table, ...HOUR_COLUMNS[table].map((name) => columns[name])]),
    'base64',
  );
}
