import { inParallel } from '../../runtime/parallel.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import type { GapObstacle, GapRecord, TransactionRecord } from '../../schemas/records.ts';
import type { LogWriter } from '../log/port.ts';
import { fetchListed } from './fetch-transaction.ts';
import { type Gap, HistoryUnavailableError } from './gap.ts';
import type { Standing } from './prove-top.ts';
import { type HistorySlice, historySlices } from './signature-slices.ts';

export interface HistoryOptions {
  rpc: Rpc;
  log: LogWriter;
  programId: string;
  signal: AbortSignal;
  /** The program has no transaction before this slot. */
  startSlot?: bigint;
  /** For how long the chain has been at the gap's end without going on far; without it, it goes on. */
  standing?: Standing;
  /** Transactions that are read at once. */
  concurrency?: number;
  onProgress?: (gap: Gap, transactions: number) => void;
  /** Told of the gaps of one slot that unreadable transactions keep, once the log has them. */
  onUnread?: (gaps: readonly UnreadGap[]) => void;
}

/**
 * A gap of one slot, of which all is read but this transaction. Others of the slot may be unread, too, which it does
 * not name.
 */
export interface UnreadGap extends Gap {
  signature: string;
}

/** What was read of a gap so far, and where it goes on. */
export interface HistoryStep {
  left: Gap;
  transactions: number;
  /** One for each transaction: a slot may have several. */
  unread: readonly UnreadGap[];
}

/**
 * Reads the transactions of an interval over RPC, newest first, and narrows the gap in the log as it goes; closes it
 * once all of them are in the log. One that cannot be read keeps a gap of its own slot, and the rest goes on. Safe to
 * break off anywhere and to run again.
 * @throws RpcError, HistoryUnavailableError; the gap stays as far as it has come.
 */
export async function closeGap(gap: Gap, options: HistoryOptions): Promise<void> {
  const { log, signal } = options;
  let stuck: UnreadGap | null = null;
  const read = await readHistory(gap, options, async ({ left, transactions, unread }) => {
    // The task that took this gap's place, or the process that closed it, opens the gaps of what is unread.
    if (signal.aborted) return;
    const isFirst = ({ fromSlot }: UnreadGap) => fromSlot === gap.fromSlot;
    const ofFirst = unread.filter(isFirst);
    // The gap names another transaction only once the one that it names is read: else one that comes and goes would
    // make a new record at every try.
    stuck = ofFirst.find(({ signature }) => signature === gap.signature) ?? ofFirst.at(-1) ?? null;
    const others = oneGapPerSlot(unread).filter((one) => !isFirst(one));
    if (others.length > 0) {
      await log.append(others.map(unreadGapRecord));
      options.onUnread?.(others);
    }
    const rest: Gap = stuck === null ? left : { ...gap, ...(stuck as UnreadGap) };
    // A gap that is tried again and again is told once, and again only where a nearer place above it is known or
    // another transaction is the missing one.
    const isTold = gap.toSlot === gap.fromSlot && gap.signature === rest.signature;
    if (stuck !== null && isTold && rest.before === (gap.before ?? null)) return;
    // A gap that reaches further may have taken its place by now.
    if (signal.aborted) return;
    await log.append([openGapRecord(rest, stuck === null ? null : obstacleOf(stuck))]);
    options.onProgress?.(rest, transactions);
  });
  if (signal.aborted) return;
  if (stuck !== null) {
    const { signature, fromSlot } = stuck as UnreadGap;
    throw new HistoryUnavailableError(`transaction ${signature} of slot ${fromSlot} cannot be read`);
  }
  const { fromSlot } = gap;
  const { startSlot = 0n } = options;
  // A later run whose history begins earlier has to know how far this gap was read.
  const clipped: Partial<GapRecord> =
    startSlot > fromSlot ? { obstacle: { type: 'pruned', firstSlot: startSlot } } : {};
  await log.append([{ kind: 'gap', fromSlot, toSlot: fromSlot, toTime: null, closed: true, ...clipped }]);
  options.onProgress?.({ ...gap, toSlot: gap.fromSlot }, read);
}

/**
 * Reads the transactions of an interval over RPC into the log, newest first.
 * @param onSlice called each time that the log has acknowledged some more of them, with what is left and which could
 * not be read.
 * @returns how many were read: all that could be, unless the signal aborted.
 * @throws RpcError, HistoryUnavailableError
 */
export async function readHistory(
  gap: Gap,
  options: Omit<HistoryOptions, 'onProgress'>,
  onSlice: (step: HistoryStep) => Promise<void>,
): Promise<number> {
  const { log, signal } = options;
  let transactions = 0;
  for await (const slice of historySlices(gap, options)) {
    const { records, unread } = await readSlice(slice, options);
    if (signal.aborted) break;
    // The transactions are acknowledged before anything says that they are there.
    if (records.length > 0) await log.append(records);
    transactions += records.length;
    const left = { ...gap, toSlot: slice.downTo - 1n, toTime: slice.time, before: slice.place };
    await onSlice({ left, transactions, unread });
  }
  return transactions;
}

/** The record of a gap as far as it was narrowed. */
export function openGapRecord(gap: Gap, obstacle: GapObstacle | null): GapRecord {
  const { fromSlot, toSlot, toTime, before = null } = gap;
  const told = { kind: 'gap', fromSlot, toTime, closed: false, before, obstacle } as const;
  return toSlot < fromSlot ? { ...told, toSlot: fromSlot } : { ...told, toSlot };
}

export const unreadGapRecord = (gap: UnreadGap): GapRecord => openGapRecord(gap, obstacleOf(gap));

/** One gap for each slot, since a gap names one transaction: the oldest unread one. @param unread newest first */
export const oneGapPerSlot = (unread: readonly UnreadGap[]): UnreadGap[] => [
  ...new Map(unread.map((gap) => [gap.fromSlot, gap])).values(),
];

const obstacleOf = ({ signature }: UnreadGap): GapObstacle => ({ type: 'unread', signature });

async function readSlice(
  slice: HistorySlice,
  { rpc, signal, concurrency = 8 }: Omit<HistoryOptions, 'onProgress'>,
): Promise<{ records: TransactionRecord[]; unread: UnreadGap[] }> {
  const found: (TransactionRecord | null)[] = [];
  await inParallel(slice.signatures, concurrency, async (info, at) => {
    found[at] = await fetchListed(rpc, info, slice.orders[at] as number, signal);
  });
  const unread: UnreadGap[] = [];
  let before = slice.above;
  slice.signatures.forEach(({ signature, slot, blockTime }, at) => {
    const newer = slice.signatures[at - 1];
    if (newer !== undefined && newer.slot > slot) before = newer.signature;
    if (found[at] === null)
      unread.push({ fromSlot: slot, toSlot: slot, toTime: blockTime, before, signature });
  });
  return { records: found.filter((record) => record !== null).reverse(), unread };
}
