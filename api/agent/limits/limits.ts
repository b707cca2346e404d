import type { Db, Queries, Transaction } from '../../postgres/port.ts';
import { rateLimited } from '../refusal.ts';
import type { Queue } from './queue.ts';

/** Limits of any 60 seconds, by the database's clock; but HELD is of exposures held at a time. */
const POSTS = 20;
const OPENS_AND_RELEASES = 10;
export const HELD = 20;
export const REFUSED = 60;
export const FAILED = 60;
export const CHALLENGES = 30;

/**
 * Makes every other transaction that takes this subject's turn wait, in every process, until this one ends.
 * @returns the database's time once the turn is taken, as text: limits are counted and rows are written with it.
 */
export async function takeTurn(tx: Transaction, subject: string): Promise<string> {
  const [row] = await tx.query<{ now: string }>('SELECT take_turn($1)::text AS now', [subject]);
  return (row as { now: string }).now;
}

export async function databaseTime(db: Queries): Promise<string> {
  const [row] = await db.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
  return (row as { now: string }).now;
}

/**
 * SQL of whether a time counts towards a limit. A time in the future was written before the clock was set back. One
 * more than a minute ahead does not count: it would block writes until the clock gets there again, perhaps for hours.
 */
export const isRecent = (now: string) =>
  `at > ${now} - interval '60 seconds' AND at <= ${now} + interval '60 seconds'`;

/** SQL of the seconds until a time that counts is a minute old, 60 where it is in the future. */
export const secondsLeft = (now: string) =>
  `least(60, ceil(extract(epoch FROM at + interval '60 seconds' - ${now})))::int`;

/** Seconds until the oldest of the newest `most` times is a minute old, or null where there are fewer. */
async function waitFor(db: Queries, times: string, subject: string, now: string, most: number) {
  const [row] = await db.query<{ wait: number }>(
    `SELECT ${secondsLeft('$2::timestamptz')} AS wait FROM (${times}) AS times WHERE ${isRecent('$2::timestamptz')}
     ORDER BY at DESC OFFSET ${most - 1} LIMIT 1`,
    [subject, now],
  );
  return row?.wait ?? null;
}

/** @throws Refusal rate_limited where 20 posts of the policy are less than a minute old. */
export async function roomForPost(db: Queries, mint: string, now: string): Promise<void> {
  const wait = await waitFor(db, 'SELECT created_at AS at FROM posts WHERE mint = $1', mint, now, POSTS);
  if (wait !== null) throw rateLimited(`${POSTS} posts a minute are the most for a policy`, wait);
}

/** @throws Refusal rate_limited where 10 opens and releases of the policy are less than a minute old. */
export async function roomForExposure(db: Queries, mint: string, now: string): Promise<void> {
  const times = `SELECT opened_at AS at FROM exposures WHERE mint = $1
    UNION ALL SELECT released_at FROM exposures WHERE mint = $1`;
  const wait = await waitFor(db, times, mint, now, OPENS_AND_RELEASES);
  if (wait !== null)
    throw rateLimited(`${OPENS_AND_RELEASES} opens and releases a minute are the most for a policy`, wait);
}

/**
 * Counts an attempt, in all processes together.
 * @throws Refusal rate_limited where `most` of the subject are less than a minute old; then it is not counted.
 */
export type CountAttempt = (subject: string, most: number, what: string) => Promise<void>;

export interface Attempts {
  count: CountAttempt;
  /** Whether the database has refused an attempt of the subject, and the wait that it named is not over. */
  areUsedUp(subject: string): boolean;
}

/** The subject of attempts that do not authenticate, by client address. */
export const failedOf = (address: string): string => `failed:${address}`;
/** The subject of refused attempts of authenticated sessions, by the policy's mint. */
export const refusedOf = (mint: string): string => `refused:${mint}`;

const REMEMBERED = 100_000;
/** The database answers a longer wait only for attempts ahead of its clock, which the next sweep deletes. */
const LONGEST_WAIT_S = 60;

/**
 * What the database has refused is refused from memory until the wait is over: a flood costs it `most` rows a minute.
 * @param clock monotonic milliseconds: no client waits for an hour because the machine's time was corrected.
 */
export function attemptCounter(db: Db, inTurn: Queue, clock: () => number): Attempts {
  const refusedUntil = new Map<string, number>();
  const leftOf = (subject: string) => (refusedUntil.get(subject) ?? 0) - clock();
  const mustNotBeRefused = (subject: string, what: string) => {
    const left = leftOf(subject);
    if (left > 0) throw rateLimited(what, Math.ceil(left / 1000));
    refusedUntil.delete(subject);
  };
  const count: CountAttempt = async (subject, most, what) => {
    mustNotBeRefused(subject, what);
    await inTurn(`attempt ${subject}`, async () => {
      // Attempts ahead of this one in the queue may have used up what was left.
      mustNotBeRefused(subject, what);
      const wait = await countOne(db, subject, most);
      if (wait === null) return;
      if (refusedUntil.size >= REMEMBERED) refusedUntil.clear();
      refusedUntil.set(subject, clock() + wait * 1000);
      throw rateLimited(what, wait);
    });
  };
  return { count, areUsedUp: (subject) => leftOf(subject) > 0 };
}

/** @returns null where it was counted, else the seconds until one more can be. */
async function countOne(db: Db, subject: string, most: number): Promise<number | null> {
  const [row] = await db.query<{ wait: number | null }>('SELECT count_attempt($1, $2) AS wait', [
    subject,
    most,
  ]);
  return row?.wait == null ? null : Math.min(row.wait, LONGEST_WAIT_S);
}
