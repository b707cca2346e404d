import { unixMillisOf } from '../../schemas/iso-time.ts';
import { STEPS, type Step } from '../../schemas/responses/history.ts';
import { DAY_S, HOUR_S, isoTime } from '../../schemas/units.ts';

/** A range of steps, in unix seconds. */
export interface Range {
  step: Step;
  /** Where the first step begins. */
  from: number;
  /** Where the last one ends. */
  to: number;
  /** The ends of its whole steps, oldest first. */
  ends: number[];
  /** Whether the step that is not over belongs to it: it ends at `to`. */
  unfinished: boolean;
  /** Whether the same query may mean another range a second later. */
  isOfNow: boolean;
}

/** A query that is no valid range: `error` is the sentence of the 400. */
export interface NoRange extends Pick<Range, 'isOfNow'> {
  error: string;
}

export const STEP_S: Record<Step, number> = { hour: HOUR_S, day: DAY_S };

const DEFAULT_S = 7 * DAY_S;
const MOST_HOURLY_S = 14 * DAY_S;
const MOST_ITEMS = 1_000;
const LAST_S = 253_402_300_799;

/** In a query an unescaped plus reads as a space, which stands nowhere else in a time. */
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[ +-]\d\d(?::?\d\d)?)?)?$/i;
const DAY_LENGTH = 10;

/** Reads the query of a history. */
export function readRange(query: URLSearchParams, nowMs: number): Range | NoRange {
  const now = Math.floor(nowMs / 1000);
  let isOfNow = false;
  try {
    const until = Math.min(time(query, 'to') ?? now, now);
    const since = time(query, 'from') ?? Math.max(0, until - DEFAULT_S);
    isOfNow = until === now || since > now;
    if (since > now) throw new RangeError(`from is in the future. Valid: from up to ${isoTime(now)}`);
    if (since > until) throw new RangeError(`from is later than to. Valid: from up to ${isoTime(until)}`);
    // The hour that is not over does not count: a range from 14 days ago until now is a moment longer once it arrives.
    const over = until === now ? Math.floor(now / STEP_S.hour) * STEP_S.hour : until;
    const step = stepOf(query.get('step')) ?? (over - since > MOST_HOURLY_S ? 'day' : 'hour');
    return { ...rangeOf(step, since, until, now), isOfNow };
  } catch (error) {
    if (error instanceof RangeError) return { error: error.message, isOfNow };
    throw error;
  }
}

function rangeOf(step: Step, since: number, until: number, now: number): Omit<Range, 'isOfNow'> {
  const length = STEP_S[step];
  const from = Math.floor(since / length) * length;
  const last = Math.floor(until / length) * length;
  const count = Math.max(0, last - from) / length;
  const unfinished = until === now && now > last;
  if (count + (unfinished ? 1 : 0) > MOST_ITEMS)
    throw new RangeError(
      `more than ${MOST_ITEMS} items by the ${step}. Valid: at most ${MOST_ITEMS}, so a later from, an earlier to or another step`,
    );
  const ends: number[] = [];
  for (let end = from + length; end <= from + count * length; end += length) ends.push(end);
  return { step, from, to: unfinished ? now : Math.max(from, last), ends, unfinished };
}

function stepOf(text: string | null): Step | null {
  if (text === null || text === '') return null;
  const found = STEPS.find((step) => step === text);
  if (found === undefined) throw new RangeError(`unknown step "${text}". Valid: ${STEPS.join(', ')}`);
  return found;
}

/** Unix seconds; null where it is not given. */
function time(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null || text === '') return null;
  const seconds = /^\d{1,12}$/.test(text)
    ? Number(text)
    : DATE.test(text)
      ? Math.floor(unixMillisOf(text.length === DAY_LENGTH ? `${text}T00:00` : text.replace(' ', '+')) / 1000)
      : Number.NaN;
  if (Number.isNaN(seconds) || seconds < 0 || seconds > LAST_S)
    throw new RangeError(`unknown ${name} "${text}". Valid: an ISO 8601 time or unix seconds`);
  return seconds;
}
