import { inParallel } from '../../../runtime/parallel.ts';
import type { GapRecord, LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { type Gap, HistoryUnavailableError } from '../../history/gap.ts';
import { readHistory, type UnreadGap } from '../../history/read-history.ts';
import type { Unread } from './cursor.ts';
import type { BackfillStore } from './stored.ts';
import type { BackfillTransactionsOptions } from './transactions.ts';

export interface Closing {
  /** Transactions that could not be read and that the index does not have: each keeps a gap of its slot. */
  unread: readonly Unread[];
  /** Gaps that are closed by what was read. */
  closed: Gap[];
  /** Those that stay open, but for slots of which a transaction could not be read. */
  left: Gap[];
}

interface CloseOptions extends Omit<BackfillTransactionsOptions, 'store'> {
  store: BackfillStore;
}

const READ_AT_ONCE = 4;

/**
 * Closes the open gaps that begin in what was read. Each closing says how far was read: where a gap was opened again
 * meanwhile and reaches further, it stays open; and which transaction the gap had named: where it names another by then,
 * it stays open too.
 * @param refused what could not be read of it
 * @throws RpcError
 */
export async function closeGaps(
  options: CloseOptions,
  topSlot: bigint,
  refused: readonly Unread[],
): Promise<Closing> {
  const { store, log, fromSlot, signal } = options;
  // Ingest may have read them since, or the stream's were not applied yet.
  const unread = await store.lacking(refused);
  const lacks = new Set(unread.map(({ fromSlot: slot }) => slot));
  const open = (await store.openGaps()).filter((gap) => !lacks.has(gap.fromSlot));
  const inside = open.filter((gap) => gap.fromSlot >= fromSlot && gap.toSlot <= topSlot);
  // A closing that names no more than its first slot is of somebody who knows that nothing was opened again.
  const closable = new Set(inside.filter((gap) => gap.fromSlot < topSlot));
  // The list that was read may lack what another had listed, and that the index has the one proves nothing of others.
  const named = [...closable].filter(isNamed);
  await inParallel(named, READ_AT_ONCE, async (gap) => {
    const missing = await missingOf(gap, options);
    if (missing.length > 0) closable.delete(gap);
    unread.push(...missing);
  });
  signal.throwIfAborted();
  const closed = [...closable];
  await log.append(closed.map((gap) => closing(gap, topSlot)));
  const left = open.filter((gap) => !closed.includes(gap) && !named.includes(gap as UnreadGap));
  return { unread, closed, left };
}

const isNamed = (gap: Gap): gap is UnreadGap => gap.signature !== undefined;

function closing({ fromSlot, signature }: Gap, topSlot: bigint): GapRecord {
  const closed = { kind: 'gap', fromSlot, toSlot: topSlot, toTime: null, closed: true } as const;
  return signature === undefined ? closed : { ...closed, obstacle: { type: 'unread', signature } };
}

/**
 * Reads what is of a gap's slot into the log, from just above it, as ingest does. That no list has its transaction is
 * ingest's to find.
 * @returns what neither the log nor the index has of it then
 */
async function missingOf(gap: UnreadGap, options: CloseOptions): Promise<Unread[]> {
  const { log, store } = options;
  const unread: Unread[] = [];
  let isRead = false;
  const append = async (records: readonly LogRecord[]) => {
    await log.append(records);
    isRead ||= records.some(
      (record) => record.kind === 'transaction' && encodeBase58(record.signature) === gap.signature,
    );
  };
  try {
    await readHistory(gap, { ...options, log: { ...log, append } }, async (step) => {
      unread.push(...step.unread);
    });
  } catch (error) {
    if (!(error instanceof HistoryUnavailableError)) throw error;
    return [gap];
  }
  return isRead || (await store.lacking([gap])).length === 0 ? store.lacking(unread) : [gap];
}
