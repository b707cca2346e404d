import { setTimeout as delay } from 'node:timers/promises';
import { redacted } from '../config/secrets.ts';

/** Asks something that a process needs; throws where it does not answer as it should. */
export type Probe = () => Promise<unknown>;

/** What is missing for a process to do its work, in words; empty when it is ready. */
export type Readiness = () => Promise<string[]>;

/** What a probe throws to have its message shown beside its name. */
export class NotReadyError extends Error {
  override name = 'NotReadyError';
}

/** What a process still waits for, in words for `/ready`; null once it waits no more. */
export interface Wait {
  tell(words: string | null): void;
  probe: Probe;
}

const MOST_WORDS = 300;

/** A wait that has begun. Its words may hold what a server answered: they are shown cut, and without secrets. */
export function beginWait(): Wait {
  let waits: string | null = 'not begun yet';
  return {
    tell: (words) => {
      waits = words;
    },
    probe: async () => {
      if (waits !== null) throw new NotReadyError(redacted(waits).slice(0, MOST_WORDS));
    },
  };
}

const ANSWER_WITHIN_MS = 2_000;
/** Those who ask at the same time, or a moment later, get the same answer. */
const FRESH_MS = 1_000;

/** Runs all probes of a process side by side, whenever its readiness is asked for. */
export function createReadiness(probes: ReadonlyMap<string, Probe>): Readiness {
  let last: { at: number; answer: Promise<string[]> } | null = null;
  const ask = async () => {
    const answers = await Promise.all(
      [...probes].map(async ([name, probe]) => {
        const why = await whyMissing(probe);
        return why === null ? null : `${name}${why}`;
      }),
    );
    return answers.filter((name) => name !== null);
  };
  return () => {
    const now = performance.now();
    if (last === null || now - last.at > FRESH_MS) last = { at: now, answer: ask() };
    return last.answer;
  };
}

/** Null where the probe succeeds, else what to show behind its name; empty where it says nothing of use. */
async function whyMissing(probe: Probe): Promise<string | null> {
  const late = new AbortController();
  try {
    const timeout = delay(ANSWER_WITHIN_MS, '', { signal: late.signal }).catch(() => '');
    return await Promise.race([probe().then(() => null), timeout]);
  } catch (error) {
    return error instanceof NotReadyError ? `: ${error.message}` : '';
  } finally {
    late.abort();
  }
}
