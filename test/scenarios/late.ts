import { setTimeout as delay } from 'node:timers/promises';
import { PATIENCE_MS } from '../support/awaited.ts';

const LATE = /the store has not answered for/;
/** Each of them took five seconds or ten. */
const MOST_TRIES = 12;
/** As the refusal says. */
const BUSY_MS = 1_000;

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** Asks again where the machine was too busy for an answer in time, which is said or is none: that is no figure. */
export async function inTime<A extends Answer | null>(answer: () => Promise<A>): Promise<A> {
  const started = performance.now();
  for (let tries = 1; ; ) {
    const got = await answer();
    if (got?.status === 503 && got.body.code === 'busy' && performance.now() - started < PATIENCE_MS) {
      // It comes at once: as many tries as there are would be over before the others have theirs.
      await delay(BUSY_MS);
      continue;
    }
    const isLate = got?.status === 500 && LATE.test(String(got.body.detail));
    if ((got !== null && !isLate) || tries === MOST_TRIES) return got;
    tries += 1;
  }
}
