import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import type { TransactionRecord } from '../../schemas/records.ts';
import { fetchListed } from '../history/fetch-transaction.ts';
import { HistoryUnavailableError } from '../history/gap.ts';
import { type UnreadGap, unreadGapRecord } from '../history/read-history.ts';
import { ordersOf } from '../history/signature-slices.ts';
import type { LogWriter } from '../log/port.ts';

/**
 * Reads one transaction; null where no node can tell it: the log has a gap of its slot by then, as from history.
 * @throws RpcError, HistoryUnavailableError
 */
export type ReadTransaction = (info: SignatureInfo) => Promise<TransactionRecord | null>;

export interface WindowReaderOptions {
  rpc: Rpc;
  log: Pick<LogWriter, 'append'>;
  /** All transactions of the window, newest first. */
  listed: readonly SignatureInfo[];
  /** A stored signature of a slot after the window, or null. */
  behind: string | null;
  /** Told of such a gap once the log has it. */
  onUnread(gap: UnreadGap): void;
  signal: AbortSignal;
}

/** Reads transactions of a window, each at its place in the list, as history does. */
export function createWindowReader(options: WindowReaderOptions): ReadTransaction {
  const { rpc, log, listed, behind, signal } = options;
  const orders = ordersOf(listed);
  const orderOf = new Map(listed.map((info, at) => [nameOf(info), orders[at]]));
  const told = new Set<bigint>();
  return async (info) => {
    const record = await fetchListed(rpc, info, orderOf.get(nameOf(info)) ?? 0, signal);
    if (record !== null) return record;
    if (signal.aborted) throw new HistoryUnavailableError('stopped while reading');
    const { signature, slot, blockTime } = info;
    if (told.has(slot)) return null;
    told.add(slot);
    const before = listed.findLast((one) => one.slot > slot)?.signature ?? behind;
    const gap = { fromSlot: slot, toSlot: slot, toTime: blockTime, before, signature };
    await log.append([unreadGapRecord(gap)]);
    options.onUnread(gap);
    return null;
  };
}

const nameOf = ({ slot, signature }: SignatureInfo): string => `${slot} ${signature}`;
