import { messageOf } from '../../runtime/errors.ts';
import { createLru } from '../../runtime/lru.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { backoffMs } from '../../runtime/retry.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import type { LogRecord } from '../../schemas/records.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { legibility } from '../../schemas/transaction/legibility.ts';
import { CUT } from '../../schemas/transaction/log-walk.ts';
import { fetchTransaction } from '../history/fetch-transaction.ts';
import { HistoryUnavailableError } from '../history/gap.ts';
import type { TransactionUpdate } from './geyser/update.ts';

const CUT_BYTES = Buffer.from(CUT);
const AT_ONCE = 4;
/**
 * Reads at once for the transactions that the store lists as unresolved: none is urgent, and each start reads all of
 * them.
 */
const KNOWN_AT_ONCE = 2;
const REST_MS = 50;
/**
 * Incomplete replies that are retried at once, over some seconds: another node may tell all once it has come to the
 * slot.
 */
const TRIES_OF_HALF = 6;
/**
 * Pause after those retries, doubled each time: the node that can tell all may be away for longer, but nodes that
 * recorded no more must not be asked for ever.
 */
const HALF_AGAIN_MS = 600_000;
const HALF_AGAIN_MOST_MS = 24 * 3_600_000;
/** Transactions that a queue holds at most; others are read at a later look, once there is room. */
const MOST_WAITING = 20_000;
const MOST_KNOWN = 200_000;

/** Whether the logs in a transaction's bytes may have been cut; looks without decoding. */
export function mayBeCut(payload: Uint8Array): boolean {
  return Buffer.from(payload.buffer, payload.byteOffset, payload.length).includes(CUT_BYTES);
}

export interface CutTransaction {
  signature: string;
  slot: bigint;
  blockTime: number | null;
}

export interface CutLogsReader {
  /**
   * Queues a transaction that the stream just brought. These have their own queue, so the store's backlog delays none
   * of them.
   */
  add(update: TransactionUpdate, blockTime: number | null): void;
  /** Takes the whole list of what the store has unresolved, read anew at each look. */
  addKnown(transactions: readonly CutTransaction[]): void;
}

export interface CutLogsOptions {
  rpc: Rpc;
  send(records: readonly LogRecord[]): Promise<void>;
  logger: Logger;
  signal: AbortSignal;
  /** How many transactions of the stream are remembered, and how many may wait in each queue. */
  mostKnown?: number;
  mostWaiting?: number;
}

interface Task {
  info: CutTransaction;
  index: number | null;
  attempt: number;
  /** How often the nodes told only part of it. */
  halves: number;
}

/** A transaction that the nodes told in part only: how often, and when it is due again, by performance.now(). */
type Half = Pick<Task, 'index' | 'halves'> & { again: number };

/**
 * Reads transactions with cut logs again over RPC, where the logs may be whole. One that the node does not have goes to
 * the end of the queue, so that it holds up no other.
 */
export function createCutLogsReader(options: CutLogsOptions): CutLogsReader {
  const { rpc, logger, signal } = options;
  /**
   * Transactions of the stream that were queued: each is read again once, or logs that are cut everywhere would be read
   * for ever. The name has the slot, too: the one that the stream told it in first may have died. Of one told in part
   * nothing is sent; `halved` has it asked for again at a later look.
   */
  const known = createLru<true>(options.mostKnown ?? MOST_KNOWN);
  /**
   * Likewise the transactions taken from the store's last list. A set, not an LRU: one more than fits would have all of
   * them read again.
   */
  let taken = new Set<string>();
  const halved = createLru<Half>(options.mostKnown ?? MOST_KNOWN);

  const later = (info: CutTransaction, { index, halves }: Pick<Task, 'index' | 'halves'>) => {
    const waitMs = Math.min(HALF_AGAIN_MOST_MS, HALF_AGAIN_MS * 2 ** (halves - TRIES_OF_HALF - 1));
    halved.set(nameOf(info), { index, halves, again: performance.now() + waitMs });
    logger.warn(
      { signature: info.signature, waitMs },
      'the nodes return an incomplete transaction; it is asked for again later',
    );
  };

  /** A queue with `atOnce` reads under way at a time; @param restMs pause after each of them. */
  const createQueue = (atOnce: number, restMs: number) => {
    const queue: Task[] = [];
    let workers = 0;
    const work = async () => {
      for (let task = queue.shift(); task !== undefined && !signal.aborted; task = queue.shift()) {
        const { info, index, attempt } = task;
        let { halves } = task;
        try {
          const record = await fetchTransaction(rpc, info, 0, index);
          // The store has the stream's version: a part of the transaction would only take from that.
          const isHalf = legibility(record) !== 'whole';
          if (isHalf) halves += 1;
          if (isHalf && halves <= TRIES_OF_HALF)
            throw new HistoryUnavailableError('the nodes return an incomplete transaction');
          if (isHalf) later(info, { index, halves });
          else await options.send([record]);
          if (restMs > 0) await pause(restMs, signal);
        } catch (error) {
          const { signature } = info;
          logger.warn(
            { signature, attempt, error: messageOf(error) },
            'a transaction with cut logs is not read again yet',
          );
          queue.push({ ...task, halves, attempt: attempt + 1 });
          await pause(backoffMs(attempt), signal);
        }
      }
      workers -= 1;
    };
    /** Queues a transaction; false where there was no room. */
    return (info: CutTransaction, index: number | null, halves = 0): boolean => {
      if (queue.length >= (options.mostWaiting ?? MOST_WAITING)) return false;
      queue.push({ info, index, attempt: 0, halves });
      if (workers === atOnce) return true;
      workers += 1;
      void work();
      return true;
    };
  };
  const read = createQueue(AT_ONCE, 0);
  const readKnown = createQueue(KNOWN_AT_ONCE, REST_MS);

  return {
    add: (update, blockTime) => {
      const { slot, index } = update;
      const info = { signature: encodeBase58(update.signature), slot, blockTime };
      const name = nameOf(info);
      if (!known.has(name) && !taken.has(name) && read(info, index)) known.set(name, true);
    },
    addKnown: (transactions) => {
      const before = taken;
      taken = new Set();
      for (const info of transactions) {
        const name = nameOf(info);
        const half = halved.peek(name);
        const isDue = half !== undefined && half.again <= performance.now();
        if (isDue && readKnown(info, half.index, half.halves)) halved.delete(name);
        if (half !== undefined || before.has(name) || known.has(name) || readKnown(info, null))
          taken.add(name);
      }
    },
  };
}

const nameOf = ({ slot, signature }: CutTransaction): string => `${slot} ${signature}`;
