import { ConfigError, messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import type { Progress } from '../../../runtime/process/progress.ts';
import { retryUntilDone } from '../../../runtime/retry.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import type { Gap } from '../../history/gap.ts';
import { HistoryUnavailableError } from '../../history/gap.ts';
import { SETTLED_AFTER } from '../../history/prove-top.ts';
import { readHistory, unreadRecord } from '../../history/read-history.ts';
import type { LogWriter } from '../../log/port.ts';
import type { StreamStore } from '../../stream/stored-state.ts';
import { type BackfilledAccounts, backfillAccounts } from './accounts.ts';
import type { CursorFile, Unread } from './cursor.ts';

/** A node that lacks what it lists may have it a moment later; one that says so again and again does not. */
const MOST_REFUSALS = 6;

export interface BackfillOptions {
  rpc: Rpc;
  log: LogWriter;
  store: Pick<StreamStore, 'knownAccounts' | 'openGaps'>;
  programId: string;
  launchpadProgramId: string;
  /** The first slot whose transactions are read. */
  fromSlot: bigint;
  cursor: CursorFile;
  /** Where each partition of transactions ends now. */
  logEnds(): Promise<ReadonlyMap<number, bigint>>;
  progress: (what: string, unit: string) => Progress;
  logger: Logger;
  signal: AbortSignal;
}

export interface Backfilled extends BackfilledAccounts, Closing {
  transactions: number;
  /** Those that could not be read: each keeps a gap of its slot. */
  unread: readonly Unread[];
}

interface Closing {
  /** Gaps that are closed by what was read. */
  closed: Gap[];
  /** Those that stay open, but for slots of which a transaction could not be read. */
  left: Gap[];
}

/**
 * Reads accounts, then transactions from now back to `fromSlot`, into the log. No gap is opened for it: what is there
 * already stays served meanwhile, and reading it again changes nothing. Gaps that others opened and that lie in what
 * was read are closed at the end, up to the slot at which the reading began.
 * @returns null where the signal was given first: the next run goes on from the cursor.
 */
export async function runBackfill(options: BackfillOptions): Promise<Backfilled | null> {
  const { rpc, store, fromSlot, cursor, signal } = options;
  const retry = <T>(what: string, task: () => Promise<T>) => retryUntilDone(what, task, options);
  const begun = await retry('asking SOLANA_RPC_URL where to begin', async () => ({
    tip: await rpc.getSlot(),
    lowest: await rpc.getFirstAvailableBlock(),
  }));
  const kept = await retry('reading what is there', async () => ({
    earlier: cursor.read(await options.logEnds()),
    known: await store.knownAccounts(),
  }));
  if (begun === null || kept === null) return null;
  const { tip, lowest } = begun;
  const { earlier, known } = kept;

  const shown = options.progress('accounts', 'accounts');
  const accounts = await retry('reading accounts over SOLANA_RPC_URL', () =>
    backfillAccounts({ ...options, known, notBefore: tip, onProgress: shown.update }),
  );
  shown.end();
  if (accounts === null || signal.aborted) return null;

  // What is newer is the stream's to bring, and no list of it counts yet.
  const topSlot = earlier?.topSlot ?? (tip > SETTLED_AFTER ? tip - SETTLED_AFTER : 0n);
  const unreadOnes = new Map<bigint, Unread>();
  for (const one of earlier?.unread ?? []) unreadOnes.set(one.fromSlot, one);
  const gap: Gap = { fromSlot, toSlot: earlier?.toSlot ?? topSlot, toTime: null };
  const total = Number(topSlot) - Math.max(Number(fromSlot), Number(lowest)) + 1;
  const slots = options.progress('transactions', 'slots');
  let before = 0;
  let read = 0;
  const show = () =>
    slots.update(Math.min(total, Number(topSlot - gap.toSlot)), total, `${before + read} read`);
  show();
  let refusals = 0;
  const done = await retry('reading transactions over SOLANA_RPC_URL', async () => {
    before += read;
    read = 0;
    try {
      return await readHistory(gap, options, async ({ left, transactions, unread }) => {
        refusals = 0;
        read = transactions;
        if (unread.length > 0) await options.log.append(unread.map(unreadRecord));
        for (const one of unread) unreadOnes.set(one.fromSlot, one);
        gap.toSlot = left.toSlot;
        gap.before = left.before ?? null;
        const ends = await options.logEnds();
        cursor.write({ topSlot, toSlot: left.toSlot, unread: [...unreadOnes.values()], ends });
        show();
      });
    } catch (error) {
      refusals += error instanceof HistoryUnavailableError ? 1 : 0;
      if (refusals < MOST_REFUSALS) throw error;
      throw new ConfigError(
        `${messageOf(error)}: name a node in SOLANA_RPC_URL that has it, or begin later with --from-slot`,
      );
    }
  })
    .then((count) => {
      if (count !== null && !signal.aborted) slots.update(total, total);
      return count;
    })
    // Whatever ends it, how far it came is shown.
    .finally(slots.end);
  if (done === null || signal.aborted) return null;
  const closing = await retry('closing gaps', () => closeGaps(options, topSlot, unreadOnes));
  if (closing === null) return null;
  cursor.remove();
  return { ...accounts, ...closing, transactions: before + read, unread: [...unreadOnes.values()] };
}

/**
 * Closes the open gaps that begin in what was read. Each closing says how far was read: where a gap was opened again
 * meanwhile and reaches further, it stays open.
 */
async function closeGaps(
  { store, log, fromSlot }: BackfillOptions,
  topSlot: bigint,
  unread: ReadonlyMap<bigint, unknown>,
): Promise<Closing> {
  const open = (await store.openGaps()).filter((gap) => !unread.has(gap.fromSlot));
  const inside = open.filter((gap) => gap.fromSlot >= fromSlot && gap.toSlot <= topSlot);
  // A closing that names no more than its first slot is of somebody who knows that nothing was opened again.
  const closable = inside.filter((gap) => gap.fromSlot < topSlot);
  await log.append(
    closable.map(({ fromSlot: from }) => ({
      ...{ kind: 'gap', fromSlot: from, toSlot: topSlot, toTime: null, closed: true },
    })),
  );
  return { closed: closable, left: open.filter((gap) => !closable.includes(gap)) };
}
