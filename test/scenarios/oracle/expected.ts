import type { PlacedEvent, View } from './view.ts';
import { total } from './view.ts';
import { hadPresentStateAt, streamedTimesOf } from './written.ts';

/** A value that is known only within bounds; vitest compares through it. */
export class Matching {
  readonly $$typeof = Symbol.for('jest.asymmetricMatcher');
  readonly wanted: string;
  readonly test: (value: unknown) => boolean;

  constructor(wanted: string, test: (value: unknown) => boolean) {
    this.wanted = wanted;
    this.test = test;
  }

  asymmetricMatch(value: unknown): boolean {
    return this.test(value);
  }

  toString(): string {
    return this.wanted;
  }

  toAsymmetricMatcher(): string {
    return `<${this.wanted}>`;
  }
}

/** The expected value of each member of an answer; the response schema decides which members there are. */
export type Answer<Response> = { [Member in keyof Response]: unknown };

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export const text = new Matching('some text', (value) => typeof value === 'string' && value !== '');
export const anything = new Matching('anything', () => true);

export const truth = new Matching('true or false', (value) => typeof value === 'boolean');

export const atLeast = (least: number) =>
  new Matching(`${least} or more`, (value) => Number.isSafeInteger(value) && (value as number) >= least);

/** A slot as a decimal string, or null where there is none yet. */
export const slotUpTo = (most: bigint) =>
  new Matching(
    `a slot up to ${most}`,
    (value) => value === null || (typeof value === 'string' && /^\d+$/.test(value) && BigInt(value) <= most),
  );

export const iso = (seconds: number | bigint) => new Date(Number(seconds) * 1000).toISOString();

export function between(from: number, to: number): Matching {
  const [first, last] = [iso(from), iso(to)];
  return new Matching(
    `${first} to ${last}`,
    (value) => typeof value === 'string' && TIME.test(value) && value >= first && value <= last,
  );
}

/** Equal but for the last digits of a double. */
export function near(wanted: number): Matching {
  return new Matching(
    `about ${wanted}`,
    (value) => typeof value === 'number' && Math.abs(value - wanted) <= Math.abs(wanted) * 1e-12,
  );
}

/** When an account was last written, as far as the index can know it. */
export const readAt = (view: View, address: string): Matching => readOf(view, [address]);

/**
 * The oldest of the times of these accounts and of `others`, in unix seconds. Where the stream told the index all of
 * their last writes, it is exact; else any time from the oldest last write on. A reading over RPC that finds the known
 * state does not move the time: so any time at which one account was what it is now is accepted too.
 */
export function readOf(view: View, addresses: readonly string[], ...others: readonly number[]): Matching {
  const told = addresses.map((address) => streamedTimesOf(view, address)).filter((times) => times !== null);
  if (told.length > 0 && told.length === addresses.length)
    return oldestOf([...told, ...others.map((time) => [time])]);
  const written = addresses.map((address) => view.state.lastWrite(address)?.blockTime ?? 0);
  const wanted = between(Math.min(view.now, ...written, ...others), view.now);
  const said = (value: unknown) => addresses.some((address) => hadPresentStateAt(view, address, value));
  return new Matching(wanted.wanted, (value) => wanted.test(value) || said(value));
}

/** The oldest of several times, each known only as one of a few candidates. */
function oldestOf(times: readonly (readonly number[])[]): Matching {
  const latest = Math.min(...times.map((some) => Math.max(...some)));
  const possible = times
    .flat()
    .filter((time) => time <= latest)
    .map(iso);
  return new Matching([...new Set(possible)].join(' or '), (value) => possible.includes(value as string));
}

export interface Figure {
  value: unknown;
  source: unknown;
  asOf: unknown;
  absent?: true;
  reason?: unknown;
}

export function figure(value: bigint | number | string, source: unknown, asOf: unknown): Figure {
  return { value: typeof value === 'bigint' ? String(value) : value, source, asOf };
}

export function absent(source: unknown): Figure {
  return { value: null, source, asOf: null, absent: true, reason: text };
}

/** A sum of events is as old as the newest of them. */
export function eventSum(
  view: View,
  events: readonly PlacedEvent[],
  field: string,
  source: unknown = text,
): Figure {
  return figure(total(events, field), source, newestTime(view, events));
}

export function newestTime(view: View, events: readonly PlacedEvent[]): unknown {
  const last = events.at(-1);
  return last === undefined ? between(0, view.now) : iso(last.blockTime);
}

/** The balance of a token account at a known address. */
export function balance(view: View, address: string): Figure {
  const token = view.state.tokens.get(address);
  const source = 'chain:getTokenAccountBalance';
  return token === undefined ? absent(source) : figure(token.amount, source, readAt(view, address));
}
