import { retryUntilDone } from '../../../runtime/retry.ts';
import type { Gap } from '../../history/gap.ts';
import { type BackfillAccountsOptions, type BackfilledAccounts, backfillAccounts } from './accounts.ts';
import type { Unread } from './cursor.ts';
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

interface Closing {
  /** Transactions that could not be read and that the index does not have: each keeps a gap of its slot. */
  unread: readonly Unread[];
  /** Gaps that are closed by what was read. */
  closed: Gap[];
  /** Those that stay open, but for slots of which a transaction could not be read. */
  left: Gap[];
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

/**
 * Closes the open gaps that begin in what was read. Each closing says how far was read: where a gap was opened again
 * meanwhile and reaches further, it stays open.
 */
async function closeGaps(
  { store, log, fromSlot }: BackfillOptions,
  topSlot: bigint,
  refused: readonly Unread[],
): Promise<Closing> {
  // Ingest may have read them since, or the stream's were not applied yet.
  const unread = await store.lacking(refused);
  const lacks = new Set(unread.map(({ fromSlot: slot }) => slot));
  const open = (await store.openGaps()).filter((gap) => !lacks.has(gap.fromSlot));
  const inside = open.filter((gap) => gap.fromSlot >= fromSlot && gap.toSlot <= topSlot);
  // A closing that names no more than its first slot is of somebody who knows that nothing was opened again.
  const closable = inside.filter((gap) => gap.fromSlot < topSlot);
  await log.append(
    closable.map(({ fromSlot: from }) => ({
      ...{ kind: 'gap', fromSlot: from, toSlot: topSlot, toTime: null, closed: true },
    })),
  );
  return { unread, closed: closable, left: open.filter((gap) => !closable.includes(gap)) };
}
