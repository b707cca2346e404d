import { messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import type { TimeRecord } from '../../schemas/records.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import type { LogWriter } from '../log/port.ts';

/** States that stand as of slots whose time no source knew. */
export interface UndatedStore {
  /** The first behind an address, so many at most, by address. */
  undatedStates(behind: string, most: number): Promise<{ address: string; slot: bigint }[]>;
}

export interface TimesOptions {
  rpc: Pick<Rpc, 'getBlockTime'>;
  log: Pick<LogWriter, 'append'>;
  store: UndatedStore;
  logger: Logger;
  signal: AbortSignal;
  everyMs?: number;
}

const EVERY_MS = 30_000;
/** Looked at in one go: those whose slot nobody will ever tell come again after all others. */
const MOST_STATES = 1_000;
/** A sweep's readings are of few slots. */
const MOST_SLOTS = 50;
const START = '';

/** Has states dated whose slot had no known time when they were read, once a node tells it. Until the signal is given. */
export async function tellTimesForever(options: TimesOptions): Promise<void> {
  const { logger, signal, everyMs = EVERY_MS } = options;
  let place = START;
  while (!signal.aborted) {
    try {
      place = await tellTimes(options, place);
    } catch (error) {
      logger.warn({ error: messageOf(error) }, 'times of slots are not asked for now; trying again');
    }
    await pause(everyMs, signal);
  }
}

/**
 * Looks at the first behind an address.
 * @returns where the next go begins
 * @throws Error of the store or the log
 */
export async function tellTimes(options: TimesOptions, behind = START): Promise<string> {
  const { log, store, signal } = options;
  const states = await store.undatedStates(behind, MOST_STATES);
  const times = new Map<bigint, number | null>();
  const records: TimeRecord[] = [];
  let last = states.length < MOST_STATES ? START : (states.at(-1)?.address ?? START);
  for (const [at, { address, slot }] of states.entries()) {
    if (!times.has(slot)) {
      if (times.size === MOST_SLOTS || signal.aborted) {
        last = states[at - 1]?.address ?? behind;
        break;
      }
      times.set(slot, await timeOf(slot, options));
    }
    const blockTime = times.get(slot) ?? null;
    if (blockTime !== null)
      records.push({ kind: 'time', address: decodeKey(address) as Uint8Array, slot, blockTime });
  }
  if (records.length > 0) await log.append(records);
  return last;
}

/** One that no node can be asked for keeps none of the others. */
async function timeOf(slot: bigint, { rpc, logger }: TimesOptions): Promise<number | null> {
  try {
    return await rpc.getBlockTime(slot);
  } catch (error) {
    logger.debug({ error: messageOf(error), slot: slot.toString() }, 'the time of a slot is not told now');
    return null;
  }
}
