import type { Rpc, SignatureInfo } from '../runtime/rpc.ts';
import { decodeBase58 } from '../schemas/base58.ts';
import type { GapRecord, TransactionRecord } from '../schemas/records.ts';
import type { LogWriter } from './log/port.ts';

export interface Gap {
  fromSlot: bigint;
  toSlot: bigint;
  toTime: number | null;
}

export interface HistoryOptions {
  rpc: Rpc;
  log: LogWriter;
  programId: string;
  signal: AbortSignal;
  /** Transactions that are read at once. */
  concurrency?: number;
  onProgress?: (gap: Gap, transactions: number) => void;
}

/** What is missing for the gap to be closed now: the node does not reach there. */
export class HistoryUnavailableError extends Error {
  override name = 'HistoryUnavailableError';
}

const PAGE = 1000;

/**
 * Reads the transactions of an interval over RPC, newest first, and narrows the gap in the log as it goes; closes it
 * once all of them are in the log. Safe to break off anywhere and to run again.
 * @throws RpcError, HistoryUnavailableError; the gap stays as far as it has come.
 */
export async function closeGap(gap: Gap, options: HistoryOptions): Promise<void> {
  const { rpc, log, programId, signal } = options;
  if ((await rpc.getSlot()) < gap.toSlot)
    throw new HistoryUnavailableError(`the node is not at slot ${gap.toSlot} yet`);
  let before: string | null = null;
  /** Signatures of the lowest slot seen so far: the next page may hold more of it. */
  let held: SignatureInfo[] = [];
  let read = 0;
  while (!signal.aborted) {
    const page = await rpc.getSignaturesForAddress(programId, before, PAGE);
    before = page.at(-1)?.signature ?? before;
    const all = [...held, ...page];
    const ended = page.length < PAGE || (page.at(-1)?.slot ?? 0n) < gap.fromSlot;
    if (page.length < PAGE && (page.at(-1)?.slot ?? gap.fromSlot) >= gap.fromSlot)
      await historyBegins(rpc, gap);
    const lowest = all.at(-1)?.slot;
    const whole = ended ? all : all.filter(({ slot }) => slot !== lowest);
    held = ended ? [] : all.filter(({ slot }) => slot === lowest);
    const wanted = whole.filter(({ slot, failed }) => slot >= gap.fromSlot && slot <= gap.toSlot && !failed);
    await log.append(await readTransactions(wanted, options));
    read += wanted.length;
    if (ended) {
      await log.append([record(gap, gap.fromSlot, null, true)]);
      options.onProgress?.({ ...gap, toSlot: gap.fromSlot }, read);
      return;
    }
    const oldest = whole.at(-1);
    if (oldest !== undefined && oldest.slot <= gap.toSlot) {
      await log.append([record(gap, oldest.slot - 1n, oldest.blockTime, false)]);
      options.onProgress?.({ ...gap, toSlot: oldest.slot - 1n, toTime: oldest.blockTime }, read);
    }
  }
}

/** A node that has dropped its oldest blocks lists no signature of them: the list's end proves nothing there. */
async function historyBegins(rpc: Rpc, gap: Gap): Promise<void> {
  const first = await rpc.getFirstAvailableBlock();
  if (first > gap.fromSlot && first > 1n) {
    throw new HistoryUnavailableError(
      `the node's first block is ${first}, the gap begins at ${gap.fromSlot}`,
    );
  }
}

function record(gap: Gap, toSlot: bigint, toTime: number | null, closed: boolean): GapRecord {
  const bounded = toSlot < gap.fromSlot ? gap.fromSlot : toSlot;
  return { kind: 'gap', fromSlot: gap.fromSlot, toSlot: bounded, toTime, closed };
}

/** @param signatures newest first, whole slots only. */
async function readTransactions(
  signatures: readonly SignatureInfo[],
  { rpc, signal, concurrency = 8 }: HistoryOptions,
): Promise<TransactionRecord[]> {
  const orders = ordersOf(signatures);
  const records: TransactionRecord[] = [];
  let next = 0;
  const worker = async () => {
    while (next < signatures.length && !signal.aborted) {
      const at = next;
      next += 1;
      records[at] = await readTransaction(rpc, signatures[at] as SignatureInfo, orders[at] as number, null);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (signal.aborted) throw new HistoryUnavailableError('stopping');
  return records.reverse();
}

/** Place of each signature in its slot, counted from the slot's oldest. */
function ordersOf(newestFirst: readonly SignatureInfo[]): number[] {
  const orders: number[] = [];
  for (let at = newestFirst.length - 1; at >= 0; at -= 1) {
    const sameSlot = newestFirst[at + 1]?.slot === newestFirst[at]?.slot;
    orders[at] = sameSlot ? (orders[at + 1] as number) + 1 : 0;
  }
  return orders;
}

/**
 * One transaction over RPC as a record of the log.
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
