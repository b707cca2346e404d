import type { LatestTable } from '../../../clickhouse/tables.ts';
import { type AccountType, storedFields } from '../../../schemas/program/account-fields.ts';
import { PROGRAM_TABLES } from './program-account.ts';
import { isStored, type LatestRow, placedRow, type SeenState, type StoredRow } from './seen.ts';

/** Columns that say when and from where a state is known. */
const OF_READING = new Set(['slot', 'version', 'block_time', 'source', 'signature']);

/** Columns that a table was given later: they are null in the rows that it had. */
export type AddedColumns = ReadonlyMap<LatestTable | '', ReadonlySet<string>>;

const ADDED_COLUMNS: AddedColumns = new Map(
  Object.entries(PROGRAM_TABLES).map(([type, table]) => [table, addedTo(type as AccountType)]),
);
const NONE: ReadonlySet<string> = new Set();

function addedTo(type: AccountType): ReadonlySet<string> {
  return new Set(storedFields(type).flatMap(({ column, added }) => (added ? [column] : [])));
}

/**
 * Whether a state says the same as another of its table. The columns decide, between states of a batch as against the
 * store: what else the bytes say is not kept, and where a log was cut must not matter.
 */
export function saysTheSame(seen: SeenState, known: SeenState | StoredRow, added = ADDED_COLUMNS): boolean {
  if (isStored(known)) return saysAll(placedRow(seen).row, known, added.get(seen.table));
  const areMissing = seen.reading === 'missing';
  if (areMissing || known.reading === 'missing') return areMissing === (known.reading === 'missing');
  if (isOfSameBytes(seen, known)) return true;
  return saysAll(placedRow(seen).row, placedRow(known).row);
}

function isOfSameBytes({ record }: SeenState, { record: known }: SeenState): boolean {
  return Buffer.compare(known.owner, record.owner) === 0 && Buffer.compare(known.data, record.data) === 0;
}

/** @param added columns in which null counts as the same: an upgrade changes no account. */
function saysAll(row: LatestRow, known: object, added = NONE): boolean {
  const columns = known as Record<string, unknown>;
  return Object.entries(row).every(
    ([column, value]) =>
      OF_READING.has(column) ||
      JSON.stringify(value) === JSON.stringify(columns[column]) ||
      (columns[column] === null && added.has(column)),
  );
}
