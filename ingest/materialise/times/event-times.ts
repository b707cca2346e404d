import type { Store } from '../../../clickhouse/client.ts';
import { nameOf } from '../../../clickhouse/queries/transactions/by-transaction.ts';
import {
  type EventPlace,
  lastUndatedSlot,
  toldPlaces,
  undatedOf,
} from '../../../clickhouse/queries/transactions/event-times.ts';
import type { TransactionRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';

/** An event that stood without a time. */
export interface UndatedEvent extends EventPlace {
  /** The time that its transaction has now, in unix seconds. */
  time: number;
}

/** Transactions of a batch with what is known of their times. */
export interface TimedTransactions {
  transactions: readonly TransactionRecord[];
  /** Stored events without a time whose transactions have one now, even by a reading that does not bring the events. */
  undated: readonly UndatedEvent[];
}

/**
 * A known time stays: a reading without one takes none away, whether it comes again, in the same batch or from a writer
 * that was paused. And a reading with the time stands, though only one without it told the place in the block.
 * @param isSoleWriter whether no other process has written of the partition since the batch before
 */
export function createEventTimes(
  store: Store,
): (records: readonly TransactionRecord[], isSoleWriter: boolean) => Promise<TimedTransactions> {
  /**
   * The last slot with an undated event: the tip is behind it, or soon is, and asks nothing. All partitions share it.
   */
  let known: bigint | null = null;
  let isAsked = false;
  const know = (slot: bigint | null) => {
    if (slot !== null && (known === null || slot > known)) known = slot;
  };

  return async (records, isSoleWriter) => {
    if (!isSoleWriter) isAsked = false;
    if (records.length === 0) return { transactions: records, undated: [] };
    if (!isAsked) {
      know(await lastUndatedSlot(store));
      isAsked = true;
    }
    const last = known;
    const here = records.filter(({ blockTime }) => blockTime === null).map(({ slot }) => slot);
    for (const slot of here) know(slot);
    const had = last !== null && records.some(({ slot }) => slot <= last);
    if (!had && here.length === 0) return { transactions: records, undated: [] };
    const placed = records.map((record) => ({
      ...{ record, slot: record.slot.toString() },
      signature: encodeBase58(record.signature),
    }));
    const standing = had ? await undatedOf(store, placed) : [];
    const wasUndated = new Set(standing.map(nameOf));
    const lacking = placed.filter(
      (one) => one.record.blockTime === null || (one.record.index === null && wasUndated.has(nameOf(one))),
    );
    const told = new Map((await toldPlaces(store, lacking)).map((one) => [nameOf(one), one]));
    const timesHere = new Map(
      placed.flatMap((one) => (one.record.blockTime === null ? [] : [[nameOf(one), one.record.blockTime]])),
    );
    const timed = new Map<string, number>();
    const transactions = placed.map((one) => {
      const name = nameOf(one);
      const { time = null, index = null } = told.get(name) ?? {};
      const blockTime = one.record.blockTime ?? timesHere.get(name) ?? time;
      if (blockTime !== null) timed.set(name, blockTime);
      return { ...one.record, blockTime, index: one.record.index ?? index };
    });
    const undated = standing.flatMap((event) => {
      const time = timed.get(nameOf(event));
      return time === undefined ? [] : [{ ...event, time }];
    });
    return { transactions, undated };
  };
}
