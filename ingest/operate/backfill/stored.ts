import type { Store } from '../../../clickhouse/client.ts';
import { accountedFor } from '../../../clickhouse/queries/transactions/accounted-for.ts';
import { nameOf } from '../../../clickhouse/queries/transactions/by-transaction.ts';
import { type StreamStore, storedState } from '../../stream/stored-state.ts';
import type { Unread } from './cursor.ts';

/** What a backfill asks the index. */
export interface BackfillStore extends Pick<StreamStore, 'knownAccounts' | 'openGaps' | 'historyBegin'> {
  /** Those among the transactions of which the index lacks more, in their slot, than it reports as missing. */
  lacking<T extends Unread>(transactions: readonly T[]): Promise<T[]>;
}

export function backfillStore(store: Store): BackfillStore {
  const { knownAccounts, openGaps, historyBegin } = storedState(store);
  return {
    knownAccounts,
    openGaps,
    historyBegin,
    lacking: async (transactions) => {
      if (transactions.length === 0) return [];
      const had = new Set((await accountedFor(store, transactions.map(placeOf))).map(nameOf));
      return transactions.filter((one) => !had.has(nameOf(placeOf(one))));
    },
  };
}

const placeOf = ({ fromSlot, signature }: Unread) => ({ slot: fromSlot.toString(), signature });
