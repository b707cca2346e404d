import type { Store } from '../../clickhouse/client.ts';
import { derivedBetween, wholeAmong } from '../../clickhouse/queries/activity/derived.ts';
import type { DerivedRow, EventRow } from '../../clickhouse/tables.ts';
import type { Facts } from './rows/facts.ts';

/** What a batch does with derived events. */
export interface DerivedRows {
  /** To be told before any of them is written. */
  listed: DerivedRow[];
  events: EventRow[];
  takenBack: DerivedRow[];
}

/** Wins over every reading. */
const LAST_WORD = 2;

/**
 * A derived event stands until its transaction was read whole, whichever reading came first. Where the whole one was
 * before, or is in the same batch, what is written says at once that it is taken back: a writer that was paused may
 * still bring the other.
 */
export async function settleDerived(store: Store, facts: Facts): Promise<DerivedRows> {
  const { derived, transactions } = facts;
  const wholeHere = new Set(transactions.map(({ signature }) => signature));
  const slots = transactions.map(({ slot }) => BigInt(slot));
  const [wholeBefore, derivedBefore] = await Promise.all([
    wholeAmong(store, [...new Set(derived.map(({ signature }) => signature))]),
    slots.length === 0 ? [] : derivedBetween(store, slots.reduce(lower), slots.reduce(higher)),
  ]);
  const isWhole = ({ signature }: { signature: string }) =>
    wholeHere.has(signature) || wholeBefore.has(signature);
  const late = derived.filter(isWhole);
  const takenBack = [
    ...late.map(rowOf),
    ...derivedBefore.filter(({ signature }) => wholeHere.has(signature)),
  ];
  const standing = derived.filter((event) => !isWhole(event));
  return {
    listed: standing.map(rowOf),
    events: [...standing, ...takenBack.map(goneEvent)],
    takenBack: takenBack.map((row) => ({ ...row, taken_back: 1 })),
  };
}

const lower = (a: bigint, b: bigint) => (a < b ? a : b);
const higher = (a: bigint, b: bigint) => (a > b ? a : b);

function rowOf(event: EventRow): DerivedRow {
  const { slot, signature, position, policy, mint, quote_mint, block_time, log_partition } = event;
  return {
    ...{ slot, signature, position, policy, mint, quote_mint, block_time, log_partition },
    taken_back: 0,
  };
}

/** The row that takes an event back. */
export function goneEvent({ taken_back: _, ...key }: DerivedRow): EventRow {
  return {
    ...key,
    block_time: null,
    ...{ tx_index: 0, has_index: LAST_WORD, kind: '', actor: '', summary: '{}' },
    ...{ amount_a: '0', amount_b: '0', amount_c: '0', amount_d: '0' },
  };
}
