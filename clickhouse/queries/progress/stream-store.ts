import type { Store } from '../../client.ts';
import { inPieces } from '../../key-pieces.ts';
import { STANDING } from '../transactions/disputed.ts';
import { UNRESOLVED } from '../transactions/unresolved.ts';

/** The offset after the last applied one, by topic: for a log that keeps no offsets of its own. */
export async function startOffsets(store: Store): Promise<Record<string, bigint>> {
  const rows = await store.query<{ topic: string; next: string }>(
    'SELECT topic, max(log_offset) + 1 AS next FROM applied FINAL GROUP BY topic',
  );
  return Object.fromEntries(rows.map(({ topic, next }) => [topic, BigInt(next)]));
}

/** The slots up to which all is applied, and up to which followed addresses are. */
export interface AppliedPosition {
  slot: bigint;
  followed: bigint;
}

/** The last applied marker of a partition. */
export interface AppliedMarker extends AppliedPosition {
  /** The first offset of the partition that is not applied. */
  next: bigint;
}

/** The applied marker of each partition of accounts and transactions that has one, by `topic/partition`. */
export async function appliedMarkers(store: Store): Promise<ReadonlyMap<string, AppliedMarker>> {
  const rows = await store.query<{
    place: string;
    log_offset: string;
    slot: string;
    followed: string | null;
  }>(
    `SELECT concat(topic, '/', toString(log_partition)) AS place, log_offset, slot, followed
     FROM applied FINAL WHERE topic IN ('accounts', 'transactions') AND slot > 0`,
  );
  return new Map(
    rows.map(({ place, log_offset, slot, followed }) => [
      place,
      { next: BigInt(log_offset) + 1n, slot: BigInt(slot), followed: BigInt(followed ?? slot) },
    ]),
  );
}

/**
 * The lowest last marker over all partitions of accounts and transactions; null before each has one.
 * @param partitions of both topics together.
 */
export async function appliedPosition(store: Store, partitions: number): Promise<AppliedPosition | null> {
  const markers = [...(await appliedMarkers(store)).values()];
  const slot = lowest(markers.map((marker) => marker.slot));
  const followed = lowest(markers.map((marker) => marker.followed));
  if (markers.length < partitions || slot === undefined || followed === undefined) return null;
  return { slot, followed };
}

const lowest = (numbers: readonly bigint[]): bigint | undefined =>
  numbers.toSorted((one, other) => (one < other ? -1 : 1))[0];

/** The slot alone of the same position. */
export async function lowestMarker(store: Store, partitions: number): Promise<bigint | null> {
  return (await appliedPosition(store, partitions))?.slot ?? null;
}

const FOLLOWED = {
  policies: 'program',
  venue_accounts: 'program',
  protocol_config: 'program',
  origins: 'program',
  models: 'program',
  token_accounts: 'token_account',
  mints: 'mint',
  metadata_accounts: 'metadata',
  pools: 'pool',
  curve_configs: 'curve_config',
} as const;

export type FollowedAs = (typeof FOLLOWED)[keyof typeof FOLLOWED];

/** Every address that has a row, and what it is followed as. */
export async function followedAccounts(
  store: Store,
): Promise<{ address: string; expected: FollowedAs; named: boolean }[]> {
  const parts = Object.entries(FOLLOWED).map(
    ([table, expected]) =>
      `SELECT address, '${expected}' AS expected, ${NAMED[expected]} AS named
       FROM ${table} GROUP BY address`,
  );
  const rows = await store.query<{ address: string; expected: FollowedAs; named: number }>(
    parts.join('\nUNION ALL\n'),
  );
  return rows.map(({ named, ...row }) => ({ ...row, named: Number(named) === 1 }));
}

/** Whether an account merely names an address: a balance that no policy owns, a mint that no policy launched. */
const NAMED: Record<FollowedAs, string> = {
  ...{ program: '0', metadata: '0', pool: '0', curve_config: '0' },
  token_account: 'argMax(owner, version) NOT IN (SELECT address FROM policies)',
  mint: 'address NOT IN (SELECT mint FROM policies)',
};

export interface OpenGap {
  fromSlot: bigint;
  toSlot: bigint;
  toTime: number | null;
  /** A signature in the list of its transactions, above all that is still to be read. */
  before: string | null;
  /** Of a gap of a single slot: a transaction that could not be read. */
  signature?: string;
}

/**
 * Gaps that some partition has not seen closed, as far as any such partition has them open. In a partition that has
 * seen one closed, `to_slot` is how far a backfill has read, which is not a gap.
 */
export async function openGaps(store: Store): Promise<OpenGap[]> {
  // Nearly always there is none, which this finds out at a third of the cost.
  const open = await store.query<{ from_slot: string }>(
    'SELECT from_slot FROM gaps FINAL WHERE closed = 0 LIMIT 1',
  );
  if (open.length === 0) return [];
  const rows = await store.query<{
    from_slot: string;
    highest: string;
    highest_time: string | null;
    place: string | null;
    unread: string | null;
  }>(
    `SELECT g.from_slot AS from_slot, maxIf(g.to_slot, g.closed = 0) AS highest,
       argMaxIf(tuple(g.to_time), g.to_slot, g.closed = 0).1 AS highest_time,
       argMaxIf(tuple(p.before), g.to_slot, g.closed = 0).1 AS place,
       argMaxIf(tuple(p.unread), g.to_slot, g.closed = 0).1 AS unread
     FROM gaps AS g FINAL
     LEFT JOIN (SELECT from_slot, log_partition, before, unread FROM gap_places FINAL) AS p
       ON p.from_slot = g.from_slot AND p.log_partition = g.log_partition
     GROUP BY g.from_slot HAVING min(g.closed) = 0 ORDER BY g.from_slot`,
  );
  return rows.map((row) => ({
    fromSlot: BigInt(row.from_slot),
    toSlot: BigInt(row.highest),
    toTime: row.highest_time === null ? null : Number(row.highest_time),
    before: row.place,
    ...(row.unread === null || row.from_slot !== row.highest ? {} : { signature: row.unread }),
  }));
}

/**
 * Of the gaps with these first slots, up to where those were read that no partition has open. A closing without an
 * opening says no more than the first slot.
 */
export async function closedUpTo(store: Store, fromSlots: readonly bigint[]): Promise<Map<bigint, bigint>> {
  const pieces = await inPieces(fromSlots.map(String), (slots) =>
    store.query<{ from_slot: string; read_to: string }>(
      `SELECT from_slot, min(to_slot) AS read_to FROM gaps FINAL
       WHERE from_slot IN {slots:Array(UInt64)} GROUP BY from_slot HAVING min(closed) = 1`,
      { slots: slots.map(BigInt) },
    ),
  );
  return new Map(pieces.flat().map((row) => [BigInt(row.from_slot), BigInt(row.read_to)]));
}

/** The slot from which on history was read, and the gaps that were read only from above their first slot. */
export async function historyBegin(
  store: Store,
): Promise<{ firstSlot: bigint | null; clipped: { fromSlot: bigint; firstSlot: bigint }[] }> {
  const rows = await store.query<{ from_slot: string; first_slot: string | null }>(
    `SELECT g.from_slot AS from_slot, if(min(g.closed) = 1, max(p.first_slot), NULL) AS first_slot
     FROM gaps AS g FINAL
     LEFT JOIN (SELECT from_slot, log_partition, first_slot FROM gap_places FINAL) AS p
       ON p.from_slot = g.from_slot AND p.log_partition = g.log_partition
     GROUP BY g.from_slot ORDER BY g.from_slot`,
    {},
  );
  return {
    firstSlot: rows[0] === undefined ? null : BigInt(rows[0].from_slot),
    clipped: rows.flatMap(({ from_slot, first_slot }) =>
      first_slot === null ? [] : [{ fromSlot: BigInt(from_slot), firstSlot: BigInt(first_slot) }],
    ),
  };
}

/** Whether a transaction of the program is stored of a slot before this one; struck ones do not count. */
export async function hasTransactionBefore(store: Store, slot: bigint): Promise<boolean> {
  const parts = ['whole_transactions', 'events_by_slot', 'incomplete_by_slot'].map(
    (table) => `SELECT 1 FROM ${table} WHERE slot < {slot:UInt64} AND (slot, signature) NOT IN (
      SELECT slot, signature FROM disputed_transactions
      WHERE slot < {slot:UInt64} AND standing = ${STANDING.struck})`,
  );
  const rows = await store.query(`SELECT 1 FROM (${parts.join(' UNION ALL ')}) LIMIT 1`, { slot });
  return rows.length > 0;
}

/** Transactions with cut logs that are not resolved, the newest first: earlier runs have tried most older ones. */
export async function unresolvedTransactions(
  store: Store,
): Promise<{ signature: string; slot: bigint; blockTime: number | null }[]> {
  const rows = await store.query<{ signature: string; slot: string; block_time: string | null }>(
    `SELECT signature, slot, block_time FROM incomplete_by_slot FINAL WHERE ${UNRESOLVED}
     ORDER BY slot DESC, signature`,
  );
  return rows.map((row) => ({
    signature: row.signature,
    slot: BigInt(row.slot),
    blockTime: row.block_time === null ? null : Number(row.block_time),
  }));
}
