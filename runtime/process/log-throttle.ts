import { createLru } from '../lru.ts';

const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;
const GROWTH = 3;
const MOST = 1_000;

interface Told {
  at: number;
  seen: number;
  waitMs: number;
  alike: number;
}

/** How often the same line was left out since it was logged last; null where this one is to be left out. */
export type LogThrottle = (said: string) => number | null;

/**
 * What fails once fails again at every retry: its line is logged at once, then 10 s later at the earliest, then at
 * intervals that grow to five minutes. A line that did not come for longer than that counts as new.
 * @param monotonic milliseconds that only go forward
 */
export function createLogThrottle(monotonic = () => performance.now()): LogThrottle {
  const told = createLru<Told>(MOST);
  return (said) => {
    const now = monotonic();
    const last = told.get(said);
    const isNews = last === undefined || now - last.seen > LONGEST_MS;
    if (!isNews && now - last.at < last.waitMs) {
      last.alike += 1;
      last.seen = now;
      return null;
    }
    const waitMs = isNews ? FIRST_MS : Math.min(LONGEST_MS, last.waitMs * GROWTH);
    told.set(said, { at: now, seen: now, waitMs, alike: 0 });
    return last?.alike ?? 0;
  };
}

const SENTENCES: ReadonlySet<string> = new Set(['error', 'reason', 'err']);
const MOST_LETTERS = 500;

/** The key of lines that say the same: without counts of tries, numbers in sentences, and the path of the request. */
export function throttleKey(fields: object, sentence: string): string {
  const kept = Object.entries(fields).flatMap(([name, value]) => {
    if (typeof value === 'number' || name === 'path') return [];
    const text = textOf(value);
    return [[name, SENTENCES.has(name) ? text.replaceAll(/\d+/g, '#') : text]];
  });
  return JSON.stringify([sentence, ...kept]).slice(0, MOST_LETTERS);
}

function textOf(value: unknown): string {
  if (value instanceof Error) return value.message;
  if (typeof value !== 'object' || value === null) return String(value);
  return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner));
}
