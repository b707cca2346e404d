import type { Store } from '../../clickhouse/client.ts';
import { firstHour, keepSums } from '../../clickhouse/queries/history/keep-sums.ts';
import { appliedState } from '../../clickhouse/queries/progress/index-state.ts';
import { openGaps } from '../../clickhouse/queries/progress/stream-store.ts';
import { messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { hourOf } from '../../schemas/units.ts';

/** How often a newly passed hour is looked for: until its sums are kept, each reader has to make them. */
const ASK_EVERY_MS = 5_000;
/** How often hours are looked at for what came late. */
const LOOK_EVERY_MS = 60_000;
/** So long after a write was counted its rows are stored; an insert that is cut off in between comes again. */
const SETTLE_MS = 5_000;
/**
 * Rest after a look, as a multiple of its duration: where much comes late, the engine is still mostly free for others.
 */
const REST = 9;
/** Hours that are looked at together. */
const TOGETHER = 168;

const TIMES = { askEveryMs: ASK_EVERY_MS, lookEveryMs: LOOK_EVERY_MS, settleMs: SETTLE_MS, rest: REST };

export interface KeepOptions {
  store: Store;
  logger: Logger;
  signal: AbortSignal;
  /** Whether this process is the one that does it: one of several is enough. */
  isOurs?: () => boolean;
  times?: Partial<typeof TIMES>;
}

/**
 * Stores the sums of every hour as soon as it has passed, and makes those again that do not hold any more, until the
 * signal is given. While history is being read most hours would have to be made again: those wait for the next look.
 */
export async function keepQuoteHours({
  store,
  logger,
  signal,
  isOurs = () => true,
  times = {},
}: KeepOptions): Promise<void> {
  const { askEveryMs, lookEveryMs, settleMs, rest } = { ...TIMES, ...times };
  let kept: number | null = null;
  let before: number | null = null;
  let [rested, due] = [0, performance.now() + lookEveryMs];
  /** Whether a new hour has passed, found twice in a row: a stream of the past goes on from hour to hour. */
  const isAnother = async (passed: number, last: number | null) =>
    passed !== kept && passed === last && (await openGaps(store)).length === 0;
  while (!signal.aborted) {
    await pause(askEveryMs, signal);
    const began = performance.now();
    if (signal.aborted || !isOurs() || began < rested) continue;
    let settled = 0;
    const settle = async () => {
      await pause(settleMs, signal);
      signal.throwIfAborted();
      settled += settleMs;
    };
    try {
      const last = before;
      const passed: number | null = await passedHour(store);
      before = passed;
      if (passed === null || (began < due && !(await isAnother(passed, last)))) continue;
      await keepPassed(store, signal, settle);
      kept = passed;
    } catch (error) {
      if (!signal.aborted)
        logger.warn({ reason: messageOf(error) }, 'sums of hours are not kept: who reads makes them');
    }
    const ended = performance.now();
    rested = ended + rest * (ended - began - settled);
    due = Math.max(rested, ended + lookEveryMs);
  }
}

/** The hour, counted from 1970, before which everything is applied; null while no time is known. */
async function passedHour(store: Store): Promise<number | null> {
  const { followed_time: time } = await appliedState(store);
  return time === null ? null : hourOf(Number(time));
}

/** The newest hours first: they are what is asked for. @returns how many were made. */
export async function keepPassed(
  store: Store,
  signal: AbortSignal,
  settle: () => Promise<void>,
): Promise<number> {
  const [first, passed] = await Promise.all([firstHour(store), passedHour(store)]);
  if (first === null || passed === null) return 0;
  let made = 0;
  for (let last = passed; last > first && !signal.aborted; last -= TOGETHER) {
    const from = Math.max(first + 1, last - TOGETHER + 1);
    const ends = Array.from({ length: last - from + 1 }, (_, at) => from + at);
    made += await keepSums(store, ends, settle);
  }
  return made;
}
