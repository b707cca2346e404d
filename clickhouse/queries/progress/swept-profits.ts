import { PROFIT } from '../../../schemas/incomplete.ts';
import type { Store } from '../../client.ts';
import { inPieces } from '../../key-pieces.ts';
import { knowsPlace } from '../../reading-rank.ts';
import { LACKING } from '../transactions/unresolved.ts';

/** A transaction with cut logs that tells everything but the profit it swept. */
export interface UnsettledSweep {
  signature: string;
  slot: bigint;
  policies: string[];
}

/** The mark and the swept profit of a policy at the end of a slot. */
export interface PolicyMark {
  slot: bigint;
  hwm: bigint;
  profitSwept: bigint;
}

/** All of a policy's sweeps in a transaction, as one. */
export interface Sweep {
  signature: string;
  profit: bigint;
  toLp: bigint;
  toHolders: bigint;
  /** Its index in the block where that is known. */
  index: number | null;
  /** Stand-in for its place in the slot while `index` is null. */
  order: number;
  blockTime: number | null;
}

/** A place in the order of unsettled sweeps: by slot, then by signature. */
export type SweepPlace = Pick<UnsettledSweep, 'slot' | 'signature'>;

/** The first unsettled sweeps behind a place. */
export async function unsettledSweeps(
  store: Store,
  upTo: bigint,
  behind: SweepPlace,
  most: number,
): Promise<UnsettledSweep[]> {
  const rows = await store.query<{ signature: string; slot: string; policies: string[] }>(
    `SELECT signature, slot, policies FROM incomplete_by_slot FINAL
     WHERE missing = [{profit:String}] AND slot <= {upTo:UInt64}
       AND (slot, signature) > ({slot:UInt64}, {signature:String}) AND ${LACKING}
     ORDER BY slot, signature LIMIT {most:UInt32}`,
    { profit: PROFIT, upTo, most, slot: behind.slot, signature: behind.signature },
  );
  return rows.map((row) => ({ ...row, slot: BigInt(row.slot) }));
}

/** Slots of which there were two versions: a mark first seen in one of them may be of the version that died. */
const MADE_TWICE = 'SELECT after_slot + 1 FROM stream_holes WHERE to_slot = after_slot + 2';

/** The two marks of a policy nearest before a slot, and the two nearest at it or behind it; the nearest come first. */
export async function marksAround(
  store: Store,
  policy: string,
  slot: bigint,
): Promise<{ before: PolicyMark[]; after: PolicyMark[] }> {
  const marks = async (where: string) => {
    const rows = await store.query<{ slot: string; hwm: string; profit_swept: string }>(
      `SELECT slot, hwm, profit_swept FROM policy_marks FINAL
       WHERE policy = {policy:String} AND slot NOT IN (${MADE_TWICE}) AND ${where} LIMIT 2`,
      { policy, slot },
    );
    return rows.map((row) => ({
      slot: BigInt(row.slot),
      hwm: BigInt(row.hwm),
      profitSwept: BigInt(row.profit_swept),
    }));
  };
  return {
    before: await marks('slot < {slot:UInt64} ORDER BY slot DESC'),
    after: await marks('slot >= {slot:UInt64} ORDER BY slot'),
  };
}

/** The sweeps of a policy behind a slot, up to another. */
export async function sweepsBetween(
  store: Store,
  policy: string,
  after: bigint,
  upTo: bigint,
): Promise<Sweep[]> {
  const rows = await store.query<Record<string, string> & { tx_index: number; has_index: number }>(
    `SELECT signature, amount_a AS profit, amount_b AS to_lp, amount_c AS to_holders, tx_index, has_index,
       ifNull(toString(block_time), '') AS block_time
     FROM events FINAL
     WHERE mint IN (SELECT mint FROM policies WHERE address = {policy:String}) AND policy = {policy:String}
       AND kind = 'ProfitSwept' AND slot > {after:UInt64} AND slot <= {upTo:UInt64}`,
    { policy, after, upTo },
  );
  return rows.map((row) => ({
    signature: row.signature as string,
    profit: BigInt(row.profit as string),
    toLp: BigInt(row.to_lp as string),
    toHolders: BigInt(row.to_holders as string),
    index: knowsPlace(row.has_index) ? row.tx_index : null,
    order: row.tx_index,
    blockTime: row.block_time === '' ? null : Number(row.block_time),
  }));
}

/** The transactions between two slots that may lack something of a policy, and what they lack. */
export async function missingBetween(
  store: Store,
  policy: string,
  after: bigint,
  upTo: bigint,
): Promise<{ signature: string; missing: string[] }[]> {
  return store.query(
    `SELECT signature, missing FROM incomplete_by_slot FINAL
     WHERE slot > {after:UInt64} AND slot <= {upTo:UInt64} AND (empty(policies) OR has(policies, {policy:String}))
       AND ${LACKING}`,
    { policy, after, upTo },
  );
}

/** The profits that were settled for some transactions, by signature and policy. */
export async function sweptProfits(
  store: Store,
  signatures: readonly string[],
): Promise<{ signature: string; policy: string; profit: string }[]> {
  const pieces = await inPieces(signatures, (piece) =>
    store.query<{ signature: string; policy: string; profit: string }>(
      'SELECT signature, policy, profit FROM swept_profits FINAL WHERE signature IN {signatures:Array(String)}',
      { signatures: piece },
    ),
  );
  return pieces.flat();
}
