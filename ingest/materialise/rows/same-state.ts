import { isStored, type LatestRow, placedRow, type Seen, type StoredRow } from './seen.ts';

/** What of a row says when and from where it is known. */
const OF_READING = new Set(['slot', 'version', 'block_time', 'source', 'signature']);

/**
 * Whether a state says what another of its table says. The columns decide, in the batch as in the store: what bytes say
 * beside them is not kept, and where a log was cut must not matter.
 */
export function saysTheSame(seen: Seen, known: Seen | StoredRow): boolean {
  if (isStored(known)) return saysAll(placedRow(seen).row, known);
  const areMissing = seen.reading === 'missing';
  if (areMissing || known.reading === 'missing') return areMissing === (known.reading === 'missing');
  if (isOfSameBytes(seen, known)) return true;
  return saysAll(placedRow(seen).row, placedRow(known).row);
}

function isOfSameBytes({ record }: Seen, { record: known }: Seen): boolean {
  return Buffer.compare(known.owner, record.owner) === 0 && Buffer.compare(known.data, record.data) === 0;
}

function saysAll(row: LatestRow, known: object): boolean {
  const columns = known as Record<string, unknown>;
  return Object.entries(row).every(
    ([column, value]) => OF_READING.has(column) || JSON.stringify(value) === JSON.stringify(columns[column]),
  );
}
