import { setTimeout as delay } from 'node:timers/promises';
import { PATIENCE_MS } from '../support/awaited.ts';

const LATE = /the store has not answered for/;
/** Most answers that were too late, each after five or ten seconds. */
const MOST_TRIES = 12;
/** The wait that a `busy` refusal asks for. */
const BUSY_MS = 1_000;

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** Asks again where the machine was too busy: on a refusal, where the store was too slow, or where no answer came. */
export async function inTime<A extends Answer | null>(answer: () => Promise<A>): Promise<A> {
  const started = performance.now();
  for (let tries = 1; ; ) {
    const got = await answer();
    if (got?.status === 503 && got.body.code === 'busy' && performance.now() - started < PATIENCE_MS) {
      // A refusal comes at once, so it does not count as a try: all tries would be over before there is room.
      await delay(BUSY_MS);
      continue;
    }
    const isLate = got?.status === 500 && LATE.test(String(got.body.detail));
    if ((got !== null && !isLate) || tries === MOST_TRIES) return got;
    tries += 1;
  }
}
