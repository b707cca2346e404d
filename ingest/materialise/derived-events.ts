import type { Store } from '../../clickhouse/client.ts';
import {
  derivedBetween,
  derivedSlots,
  wholeAmong,
  wholeByEvents,
} from '../../clickhouse/queries/activity/derived.ts';
import { nameOf } from '../../clickhouse/queries/transactions/by-transaction.ts';
import { READING } from '../../clickhouse/reading-rank.ts';
import type { DerivedRow, EventRow } from '../../clickhouse/tables.ts';
import type { Facts } from './rows/facts.ts';

/** What a batch does with derived events. */
export interface DerivedRows {
  /** To be written before any of the events. */
  listed: DerivedRow[];
  events: EventRow[];
  takenBack: DerivedRow[];
}

/** @param isSoleWriter whether no other process has written of the partition since the batch before */
type Settle = (facts: Facts, struck: readonly DerivedRow[], isSoleWriter: boolean) => Promise<DerivedRows>;

interface Slots {
  lowest: bigint;
  highest: bigint;
}

/**
 * A derived event stands until its transaction was read whole, whichever reading came first. Where the whole reading
 * came before, or is in the same batch, the rows say at once that the derived event is taken back: a writer that was
 * paused may still write it.
 */
export function createDerived(store: Store): Settle {
  /**
   * The slots between which derived events lie: in the database, null before it was asked, and of this process (`own`).
   */
  let stored: { slots: Slots | null } | null = null;
  let own: Slots | null = null;

  /** Nothing is asked at the tip, where there is hardly ever one, unless another process may write at any time. */
  const around = async (slots: readonly bigint[]): Promise<DerivedRow[]> => {
    if (slots.length === 0) return [];
    const here = { lowest: slots.reduce(lower), highest: slots.reduce(higher) };
    if (store.exclusive === true) {
      stored ??= { slots: await derivedSlots(store) };
      if (!overlap(stored.slots, here) && !overlap(own, here)) return [];
    }
    return derivedBetween(store, here.lowest, here.highest);
  };

  return async ({ derived, transactions }, struck, isSoleWriter) => {
    if (!isSoleWriter) stored = null;
    const wholeHere = new Set(transactions.map(nameOf));
    const cut = [...new Map(derived.map((event) => [nameOf(event), event])).values()];
    const [wholeBefore, withEvents, derivedBefore] = await Promise.all([
      wholeAmong(store, cut),
      wholeByEvents(store, cut),
      around(transactions.map(({ slot }) => BigInt(slot))),
    ]);
    // Slot and signature: a transaction that was read whole in a slot that died may have landed in another one, where
    // its logs were cut.
    const whole = new Set([...wholeHere, ...[...wholeBefore, ...withEvents].map(nameOf)]);
    const late = derived.filter((event) => whole.has(nameOf(event)));
    const takenBack = [...late.map(rowOf), ...derivedBefore.filter((event) => wholeHere.has(nameOf(event)))];
    const standing = derived.filter((event) => !whole.has(nameOf(event)));
    for (const { slot } of [...derived, ...struck]) {
      const at = BigInt(slot);
      own = { lowest: lower(own?.lowest ?? at, at), highest: higher(own?.highest ?? at, at) };
    }
    return {
      listed: standing.map(rowOf),
      events: [...standing, ...takenBack.map(tombstoneEvent)],
      takenBack: [...takenBack.map((row): DerivedRow => ({ ...row, taken_back: 1 })), ...struck],
    };
  };
}

const overlap = (one: Slots | null, other: Slots) =>
  one !== null && one.lowest <= other.highest && other.lowest <= one.highest;
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
export function tombstoneEvent({ taken_back: _, ...key }: DerivedRow): EventRow {
  return {
    ...key,
    block_time: null,
    ...{ tx_index: 0, has_index: READING.takenBack, kind: '', actor: '', summary: '{}' },
    ...{ amount_a: '0', amount_b: '0', amount_c: '0', amount_d: '0' },
  };
}
