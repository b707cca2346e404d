import type { UnseenRow } from '../../../clickhouse/hour-tables.ts';
import type { LatestTable, StateRow } from '../../../clickhouse/tables.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { hourOf } from '../../../schemas/units.ts';
import { createClosings, type FirstSeen } from './hours/closings.ts';
import { isKept } from './hours/hours.ts';
import { stateHash } from './hours/state-hash.ts';
import { createKnownRows, type KnownRow, lastOf } from './known-rows.ts';
import { type AddedColumns, saysTheSame } from './same-state.ts';
import {
  isFromRpc,
  isStored,
  type LatestRow,
  type PlacedRow,
  placedRow,
  type SeenState,
  type StoredRow,
} from './seen.ts';
import type { Stored } from './stored-states.ts';

export interface LatestRows {
  /** Rows by table, the newest good state of each address only; the first columns alone where no account stands. */
  tables: Map<LatestTable, LatestRow[]>;
  /**
   * Likewise for addresses where no account stands and nothing said what was expected: in each table that holds them.
   */
  closed: Map<LatestTable, StateRow[]>;
  /** The last good state of each address in each hour. */
  closings: PlacedRow[];
  /** The slot of the first state of each hour that the stream brought. */
  streamed: FirstSeen[];
  /** Changes that the stream did not bring, or not in a known hour. */
  unseen: UnseenRow[];
}

/**
 * What a batch of account states writes: every state is read, the newest good one of an address is kept. What a reading
 * over RPC says is compared with the newest of batch and store, so that it does not matter where a log was cut.
 * @param added columns that stored rows may lack; by default those that the schema was given later
 */
export function latestRows(states: readonly SeenState[], stored: Stored, added?: AddedColumns): LatestRows {
  const lines = createKnownRows(stored);
  const closings = createClosings();
  const unseen: UnseenRow[] = [];
  for (const seen of states) {
    const isOfHours = isKept(seen.table);
    if (isOfHours) {
      closings.streamed(seen);
      if (!isFromRpc(seen) && seen.seenAt === null) unseen.push(unseenRow(seen, seen.record.slot - 1n));
    }
    const held = lines.of(seen);
    if (held.length === 0 && isOfHours) closings.add(seen);
    for (const line of held) {
      const known = lastOf(line);
      const next = amongKnown(seen, known, added);
      // A state of a table that hours do not keep says nothing of hours.
      if (isOfHours && known !== null && next === seen && isFromRpc(seen))
        unseen.push(unseenRow(seen, BigInt(known.version) >> 64n));
      const earlier = takeIn(line, next);
      if (earlier === null || !isKept(earlier.table)) continue;
      if (!isInHourOf(line.newest as SeenState, earlier)) closings.add(earlier);
    }
  }
  const rows: LatestRows = { tables: new Map(), closed: new Map(), closings: [], streamed: [], unseen };
  for (const { table, newest } of lines.all()) {
    if (newest === null) continue;
    const placed = placedRow(newest);
    push(newest.table === '' ? rows.closed : rows.tables, table, placed.row);
    rows.closings.push(placed);
  }
  for (const seen of closings.earlier()) rows.closings.push(placedRow(seen));
  rows.streamed = [...closings.firsts()];
  return rows;
}

/** A state as it counts beside the one that is known; itself where it says something new. */
function amongKnown(seen: SeenState, known: SeenState | StoredRow | null, added?: AddedColumns): SeenState {
  if (known === null) return seen;
  const version = BigInt(known.version);
  if (!isFromRpc(seen)) return version === seen.version ? asDated(seen, known) : seen;
  if (version > seen.version) return { ...seen, novelty: 'behind' };
  if (!saysTheSame(seen, known, added)) return seen;
  // A reading of the same state moves nothing but the version, so that an older state does not replace it.
  if (isStored(known)) return { ...seen, kept: known, novelty: 'repeats' };
  return { ...known, version: seen.version, seenAt: seen.seenAt, novelty: 'repeats' };
}

/** A state that comes again without a time keeps the time that it was given meanwhile. */
function asDated(seen: SeenState, known: SeenState | StoredRow): SeenState {
  if (seen.seenAt !== null || isFromRpc(known)) return seen;
  return isStored(known) ? { ...seen, kept: known } : { ...known, seenAt: null };
}

/** @returns the older of `next` and what was the newest before; null if nothing was. */
function takeIn(line: KnownRow, next: SeenState): SeenState | null {
  const before = line.newest;
  if (before !== null && before.version > next.version) return next;
  line.newest = next;
  return before;
}

function isInHourOf(newest: SeenState, { seenAt }: SeenState): boolean {
  const hour = hourOf(seenAt);
  return hour !== null && isKept(newest.table) && hour === hourOf(newest.seenAt);
}

const unseenRow = (seen: SeenState, after: bigint): UnseenRow => ({
  address: encodeBase58(seen.record.address),
  after_slot: after.toString(),
  to_slot: seen.record.slot.toString(),
  state: stateHash(seen),
});

function push<T>(tables: Map<LatestTable, T[]>, table: LatestTable, row: T): void {
  const rows = tables.get(table);
  if (rows === undefined) tables.set(table, [row]);
  else rows.push(row);
}
