import { pause } from '../../runtime/lifecycle.ts';
import { inParallel } from '../../runtime/parallel.ts';
import { backoffMs } from '../../runtime/retry.ts';
import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { Rpc } from '../../runtime/rpc.ts';
import { decodeBase58 } from '../../schemas/base58.ts';
import type { GapRecord, TransactionRecord } from '../../schemas/records.ts';
import type { LogWriter } from '../log/port.ts';
import { type Gap, HistoryUnavailableError } from './gap.ts';
import { type HistorySlice, historySlices } from './signature-slices.ts';

export interface HistoryOptions {
  rpc: Rpc;
  log: LogWriter;
  programId: string;
  signal: AbortSignal;
  /** Transactions that are read at once. */
  concurrency?: number;
  onProgress?: (gap: Gap, transactions: number) => void;
}

const TRIES = 6;

/**
 * Reads the transactions of an interval over RPC, newest first, and narrows the gap in the log as it goes; closes it
 * once all of them are in the log. Safe to break off anywhere and to run again.
 * @throws RpcError, HistoryUnavailableError; the gap stays as far as it has come.
 */
export async function closeGap(gap: Gap, options: HistoryOptions): Promise<void> {
  const { log, signal } = options;
  const read = await readHistory(gap, options, async (left, transactions) => {
    await log.append([progress(left, false)]);
    options.onProgress?.(left, transactions);
  });
  if (signal.aborted) return;
  await log.append([progress({ ...gap, toSlot: gap.fromSlot, toTime: null }, true)]);
  options.onProgress?.({ ...gap, toSlot: gap.fromSlot }, read);
}

/**
 * Reads the transactions of an interval over RPC into the log, newest first.
 * @param onSlice told what is left once the log has acknowledged some more of them, and how many there are so far.
 * @returns how many were read; all of them where the signal was not given.
 * @throws RpcError, HistoryUnavailableError
 */
export async function readHistory(
  gap: Gap,
  options: Omit<HistoryOptions, 'onProgress'>,
  onSlice: (left: Gap, transactions: number) => Promise<void>,
): Promise<number> {
  const { log, signal } = options;
  let read = 0;
  for await (const slice of historySlices(gap, options)) {
    const records = await readSlice(slice, options);
    if (signal.aborted) break;
    // The transactions are acknowledged before anything says that they are there.
    if (records.length > 0) await log.append(records);
    read += records.length;
    await onSlice({ ...gap, toSlot: slice.downTo - 1n, toTime: slice.time }, read);
  }
  return read;
}

function progress({ fromSlot, toSlot, toTime }: Gap, closed: boolean): GapRecord {
  return { kind: 'gap', fromSlot, toSlot: toSlot < fromSlot ? fromSlot : toSlot, toTime, closed };
}

async function readSlice(slice: HistorySlice, options: HistoryOptions): Promise<TransactionRecord[]> {
  const { rpc, signal, concurrency = 8 } = options;
  const records: TransactionRecord[] = [];
  await inParallel(slice.signatures, concurrency, async (info, at) => {
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        records[at] = await readTransaction(rpc, info, slice.orders[at] as number, null);
        return;
      } catch (error) {
        if (attempt === TRIES) throw error;
        await pause(backoffMs(attempt - 1), signal);
      }
    }
  });
  return records.reverse();
}

/**
 * One transaction over RPC as a record of the log.
 * @param order its place in its slot among those of the program, where no index is known.
 * @param knownIndex its index in the block where the stream told it.
 * @throws RpcError, HistoryUnavailableError where the node does not have it yet.
 */
export async function readTransaction(
  rpc: Rpc,
  info: Pick<SignatureInfo, 'signature' | 'slot' | 'blockTime'>,
  order: number,
  knownIndex: number | null,
): Promise<TransactionRecord> {
  const result = await rpc.getTransaction(info.signature);
  if (result === null) throw new HistoryUnavailableError(`the node has no transaction ${info.signature}`);
  const { blockTime, transactionIndex } = result;
  return {
    kind: 'transaction',
    source: 'rpc',
    slot: info.slot,
    blockTime: Number.isSafeInteger(blockTime) ? (blockTime as number) : info.blockTime,
    signature: decodeBase58(info.signature) as Uint8Array,
    index: knownIndex ?? (Number.isSafeInteger(transactionIndex) ? (transactionIndex as number) : null),
    order,
    format: 'json',
    payload: Buffer.from(JSON.stringify(result)),
  };
}
