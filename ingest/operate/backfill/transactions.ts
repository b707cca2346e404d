import { ConfigError, messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import type { Progress } from '../../../runtime/process/progress.ts';
import { retryUntilDone } from '../../../runtime/retry.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import { isoTime } from '../../../schemas/units.ts';
import { type Gap, HistoryUnavailableError } from '../../history/gap.ts';
import { SETTLED_AFTER } from '../../history/prove-top.ts';
import { oneGapPerSlot, readHistory, type UnreadGap, unreadGapRecord } from '../../history/read-history.ts';
import type { LogWriter } from '../../log/port.ts';
import type { Cursor, CursorFile, Unread } from './cursor.ts';
import type { BackfillStore } from './stored.ts';

/** A node that lacks what it lists may have it a moment later; one that says so again and again does not. */
const MOST_REFUSALS = 6;

export interface BackfillTransactionsOptions {
  rpc: Rpc;
  log: LogWriter;
  store: Pick<BackfillStore, 'lacking'>;
  programId: string;
  /** The first slot whose transactions are read. */
  fromSlot: bigint;
  cursor: CursorFile;
  /** Tells a person a sentence. */
  say(sentence: string): void;
  progress: (what: string, unit: string) => Progress;
  logger: Logger;
  signal: AbortSignal;
}

export interface BackfilledTransactions {
  /** The slot up to which all is read. */
  topSlot: bigint;
  transactions: number;
  /** Transactions that could not be read and that the index did not have. */
  unread: readonly Unread[];
}

/**
 * Reads transactions from 32 slots before the tip back to `fromSlot`: where an earlier run was ended, what it has left,
 * and then what came since it began.
 * @param chain where the node stands, and its first block
 * @returns null where the signal was given first
 */
export async function backfillTransactions(
  options: BackfillTransactionsOptions,
  earlier: Cursor | null,
  { tip, lowest }: { tip: bigint; lowest: bigint },
): Promise<BackfilledTransactions | null> {
  const { fromSlot, cursor, signal } = options;
  // Newer slots are the stream's to bring, and no list of them is reliable yet.
  const settled = tip > SETTLED_AFTER ? tip - SETTLED_AFTER : 0n;
  const legs = legsOf(earlier, fromSlot, settled);
  const topSlot = legs.at(-1)?.topSlot ?? settled;
  const begunAt = earlier?.begunAt ?? Date.now();
  if (earlier !== null) options.say(goingOn(earlier, cursor.file));

  const unreadOnes: Unread[] = [...(earlier?.unread ?? [])];
  const slotsOf = (from: bigint, to: bigint) =>
    Math.max(0, Number(to) - Math.max(Number(from), Number(lowest)) + 1);
  const total = slotsOf(fromSlot, topSlot);
  const slots = options.progress('transactions', 'slots');
  let before = 0;
  let read = 0;
  const show = () => {
    const left = legs.reduce((sum, { gap }) => sum + slotsOf(gap.fromSlot, gap.toSlot), 0);
    slots.update(Math.max(0, total - left), total, `${before + read} read`);
  };
  show();

  const lacking = (unread: readonly UnreadGap[]) =>
    unread.length === 0
      ? []
      : retryUntilDone('reading what is there', () => options.store.lacking(unread), options);
  const readLeg = async ({ gap, topSlot: legTop }: Leg) => {
    let refusals = 0;
    const done = await retryUntilDone(
      'reading transactions over SOLANA_RPC_URL',
      async () => {
        before += read;
        read = 0;
        try {
          return await readHistory(gap, options, async ({ left, transactions, unread }) => {
            refusals = 0;
            read = transactions;
            // A transaction that the index has needs no gap: the stream brought it, or another node.
            const missing = await lacking(unread);
            if (missing === null) return;
            // Says how far is read here: ingest may have a gap from that slot on which reaches further.
            const gaps = oneGapPerSlot(missing).map((one) => ({ ...unreadGapRecord(one), toSlot: legTop }));
            if (gaps.length > 0) await options.log.append(gaps);
            unreadOnes.push(
              ...missing.map(({ fromSlot, signature, before = null }) => ({ fromSlot, signature, before })),
            );
            gap.toSlot = left.toSlot;
            gap.before = left.before ?? null;
            const place = { fromSlot: gap.fromSlot, toSlot: gap.toSlot, topSlot: legTop };
            await cursor.write({ begunAt, ...place, unread: unreadOnes });
            show();
          });
        } catch (error) {
          refusals += error instanceof HistoryUnavailableError ? 1 : 0;
          if (refusals < MOST_REFUSALS) throw error;
          throw new ConfigError(
            `${messageOf(error)}: name a node in SOLANA_RPC_URL that has it, or begin later with --from-slot`,
          );
        }
      },
      options,
    );
    if (done === null || signal.aborted) return false;
    gap.toSlot = gap.fromSlot - 1n;
    return true;
  };
  try {
    for (const leg of legs) if (!(await readLeg(leg))) return null;
    slots.update(total, total);
  } finally {
    // Whatever ends it, how far it came is shown.
    slots.end();
  }
  return { topSlot, transactions: before + read, unread: unreadOnes };
}

/** Slots that are read in one go, newest first; after them all is read up to `topSlot`. */
interface Leg {
  gap: Gap;
  topSlot: bigint;
}

function legsOf(earlier: Cursor | null, fromSlot: bigint, settled: bigint): Leg[] {
  const leg = (from: bigint, to: bigint, topSlot: bigint): Leg => ({
    gap: { fromSlot: from, toSlot: to, toTime: null },
    topSlot,
  });
  if (earlier === null) return [leg(fromSlot, settled, settled)];
  const { topSlot } = earlier;
  const left = leg(earlier.fromSlot, earlier.toSlot, topSlot);
  return settled > topSlot ? [left, leg(topSlot + 1n, settled, settled)] : [left];
}

const goingOn = ({ begunAt, fromSlot, toSlot, topSlot }: Cursor, file: string): string => {
  const begun = isoTime(Math.floor(begunAt / 1_000));
  return `going on with the run of ${begun}: what is up to slot ${topSlot} is read but ${fromSlot} to ${toSlot}; remove ${file} to have all of it read again`;
};
