import { messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import type { TimeRecord } from '../../schemas/records.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import type { LogWriter } from '../log/port.ts';
import { createSlotTimeBackoff, type SlotTimeBackoff } from './slot-time-backoff.ts';

/** A state of a slot whose time no source knew. */
export interface Undated {
  address: string;
  slot: bigint;
}

export interface UndatedStore {
  /** The first `most` undated latest states behind an address, by address. */
  undatedStates(behind: string, most: number): Promise<Undated[]>;
  /**
   * The first `most` undated states that close an hour, even where newer states came since; behind one, by slot and
   * address.
   */
  waitingHours(behind: Undated | null, most: number): Promise<Undated[]>;
}

export interface TimesOptions {
  rpc: Pick<Rpc, 'getBlockTime'>;
  log: Pick<LogWriter, 'append'>;
  store: UndatedStore;
  logger: Logger;
  signal: AbortSignal;
  backoff: SlotTimeBackoff;
}

const EVERY_MS = 30_000;
/** States looked at in one round: those whose slot nobody will ever tell come again after all others. */
const MOST_STATES = 1_000;
/** Slots asked for in one look at a list: a sweep's readings are of few slots. */
const MOST_SLOTS = 50;

/** The states behind which the next round begins, in both lists; null: at the beginning. */
export interface Places {
  states: Undated | null;
  hours: Undated | null;
}

const START: Places = { states: null, hours: null };

/**
 * Dates states whose slot had no known time when they were read, once a node tells it. Goes on until the signal aborts.
 */
export async function dateStatesForever(options: Omit<TimesOptions, 'backoff'>): Promise<void> {
  const { logger, signal } = options;
  const backoff = createSlotTimeBackoff();
  let places = START;
  while (!signal.aborted) {
    try {
      places = await dateStates({ ...options, backoff }, places);
    } catch (error) {
      logger.warn({ error: messageOf(error) }, 'times of slots are not asked for now; trying again');
    }
    await pause(EVERY_MS, signal);
  }
}

/**
 * The times and records of one round, shared by both lists: many states are of one slot, and most latest states close
 * an hour, too.
 */
interface Go {
  times: Map<bigint, number | null>;
  records: Map<string, TimeRecord>;
}

/**
 * Looks at the first states behind these places.
 * @returns where the next round begins
 * @throws Error of the store or the log
 */
export async function dateStates(options: TimesOptions, behind = START): Promise<Places> {
  const { log, store } = options;
  const go: Go = { times: new Map(), records: new Map() };
  const states = await store.undatedStates(behind.states?.address ?? '', MOST_STATES);
  const hours = await store.waitingHours(behind.hours, MOST_STATES);
  const next: Places = {
    states: await lookAt(states, behind.states, go, options),
    hours: await lookAt(hours, behind.hours, go, options),
  };
  if (go.records.size > 0) await log.append([...go.records.values()]);
  return next;
}

/** @returns the state behind which the next look begins; null: at the beginning */
async function lookAt(
  all: readonly Undated[],
  behind: Undated | null,
  { times, records }: Go,
  options: TimesOptions,
): Promise<Undated | null> {
  let asked = 0;
  for (const [at, { address, slot }] of all.entries()) {
    if (!times.has(slot) && options.backoff.isWaiting(slot)) continue;
    if (!times.has(slot)) {
      if (asked === MOST_SLOTS || options.signal.aborted) return all[at - 1] ?? behind;
      asked += 1;
      times.set(slot, await timeOf(slot, options));
    }
    const blockTime = times.get(slot) ?? null;
    if (blockTime !== null)
      records.set(`${address} ${slot}`, {
        ...{ kind: 'time', address: decodeKey(address) as Uint8Array },
        ...{ slot, blockTime },
      });
  }
  return all.length < MOST_STATES ? null : (all.at(-1) ?? null);
}

/** A slot that no node answers for keeps none of the others undated. */
async function timeOf(slot: bigint, { rpc, logger, backoff }: TimesOptions): Promise<number | null> {
  try {
    const time = await rpc.getBlockTime(slot);
    if (time === null) backoff.noteUnknown(slot);
    return time;
  } catch (error) {
    logger.debug({ error: messageOf(error), slot: slot.toString() }, 'the time of a slot is not told now');
    return null;
  }
}
