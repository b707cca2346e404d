import type { Store } from '../../clickhouse/client.ts';
import { firstHour, keepSums } from '../../clickhouse/queries/history/keep-sums.ts';
import { appliedState } from '../../clickhouse/queries/progress/index-state.ts';
import { messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { hourOf } from '../../schemas/units.ts';

const LOOK_EVERY_MS = 60_000;
/** So long after a write was counted its rows are there; an insert that is cut off in between comes again. */
const SETTLE_MS = 5_000;
/** Rest after a look, in times of what it took: where much comes late, most of the engine is for others. */
const REST = 9;
/** Hours that are looked at together. */
const TOGETHER = 168;

export interface KeepOptions {
  store: Store;
  logger: Logger;
  signal: AbortSignal;
  /** Of several processes one is enough. */
  isOurs?: () => boolean;
}

/** Keeps the sums of every hour that is passed, and makes those again that do not hold any more, until the signal is given. */
export async function keepQuoteHours({
  store,
  logger,
  signal,
  isOurs = () => true,
}: KeepOptions): Promise<void> {
  let restMs = LOOK_EVERY_MS;
  while (!signal.aborted) {
    await pause(restMs, signal);
    if (signal.aborted || !isOurs()) continue;
    const began = performance.now();
    let settled = 0;
    const settle = async () => {
      await pause(SETTLE_MS, signal);
      signal.throwIfAborted();
      settled += SETTLE_MS;
    };
    try {
      await keepPassed(store, signal, settle);
    } catch (error) {
      if (!signal.aborted)
        logger.warn({ reason: messageOf(error) }, 'sums of hours are not kept: who reads makes them');
    }
    restMs = Math.max(LOOK_EVERY_MS, REST * (performance.now() - began - settled));
  }
}

/** The newest hours first: they are what is asked for. @returns how many were made. */
export async function keepPassed(
  store: Store,
  signal: AbortSignal,
  settle: () => Promise<void>,
): Promise<number> {
  const [first, { followed_time: time }] = await Promise.all([firstHour(store), appliedState(store)]);
  const passed = time === null ? null : hourOf(Number(time));
  if (first === null || passed === null) return 0;
  let made = 0;
  for (let last = passed; last > first && !signal.aborted; last -= TOGETHER) {
    const from = Math.max(first + 1, last - TOGETHER + 1);
    const ends = Array.from({ length: last - from + 1 }, (_, at) => from + at);
    made += await keepSums(store, ends, settle);
  }
  return made;
}
