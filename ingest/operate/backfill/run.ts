import { retryUntilDone } from '../../../runtime/retry.ts';
import { type BackfillAccountsOptions, type BackfilledAccounts, backfillAccounts } from './accounts.ts';
import { type Closing, closeGaps } from './close-gaps.ts';
import type { BackfillStore } from './stored.ts';
import { type BackfillTransactionsOptions, backfillTransactions } from './transactions.ts';

export interface BackfillOptions
  extends BackfillTransactionsOptions,
    Pick<BackfillAccountsOptions, 'patienceMs'> {
  store: BackfillStore;
  launchpadProgramId: string;
}

export interface Backfilled extends BackfilledAccounts, Closing {
  transactions: number;
}

/**
 * Reads accounts, then transactions from now back to `fromSlot`, into the log. No gap is opened for it: what is there
 * already stays served meanwhile, and reading it again changes nothing. Gaps that others opened and that lie in what
 * was read are closed at the end, up to the slot at which the reading began.
 * @returns null where the signal was given first: the next run goes on from the cursor, and reads what came since.
 */
export async function runBackfill(options: BackfillOptions): Promise<Backfilled | null> {
  const { rpc, store, cursor, signal } = options;
  const retry = <T>(what: string, task: () => Promise<T>) => retryUntilDone(what, task, options);
  const begun = await retry('asking SOLANA_RPC_URL where to begin', async () => ({
    tip: await rpc.getSlot(),
    lowest: await rpc.getFirstAvailableBlock(),
  }));
  const kept = await retry('reading what is there', async () => ({
    earlier: await cursor.read(),
    known: await store.knownAccounts(),
  }));
  if (begun === null || kept === null) return null;
  const { earlier, known } = kept;

  const shown = options.progress('accounts', 'accounts');
  const accounts = await retry('reading accounts over SOLANA_RPC_URL', () =>
    backfillAccounts({ ...options, known, notBefore: begun.tip, onProgress: shown.update }),
  );
  shown.end();
  if (accounts === null || signal.aborted) return null;

  const transactions = await backfillTransactions(options, earlier, begun);
  if (transactions === null) return null;
  const { topSlot, unread } = transactions;
  const closing = await retry('closing gaps', () => closeGaps(options, topSlot, unread));
  if (closing === null) return null;
  cursor.remove();
  return { ...accounts, transactions: transactions.transactions, ...closing };
}
