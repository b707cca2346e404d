import { BEHIND_MAX_BYTES, type StreamClient } from './client.ts';
import { type Position, positionText } from './position.ts';
import { type SharedEvent, sharedEvent } from './wire.ts';

/** One client of the streams of events and posts. */
export interface Subscriber {
  client: StreamClient;
  mint: string | null;
  kind: string | null;
  events: boolean;
  /** Whether posts have begun for it; false until then, even where it wants them. */
  posts: boolean;
  at: Position;
  /** What came live while the things it missed are read and sent; null once they were. */
  held: Held[] | null;
}

export interface Held {
  /** Of the event or post; null for a gap. */
  identity: string | null;
  part: Position;
  bytes: SharedEvent;
}

/** As much as may happen at once and still be sent one by one. */
const MOST_HELD = 2_000;

/** Sends a client something, and moves its position; while the client catches up, that waits. */
export function tell(to: Subscriber, held: Held): void {
  if (to.held !== null) {
    if (to.held.length >= MOST_HELD) to.held = gapsFor(to.held, to.mint);
    to.held.push(held);
    return;
  }
  write(to, held);
}

function write(to: Subscriber, { part, bytes }: Held): void {
  to.at = { ...to.at, ...part };
  to.client.write(bytes(positionText(to.at)));
}

/**
 * Sends what was missed, then what came meanwhile, each thing once, and as fast as the client reads: together it may be
 * more than may wait for one client.
 * @param mostMs for how long the client is waited for; what is left then is sent at once
 */
export async function tellMissed(to: Subscriber, missed: readonly Held[], mostMs: number): Promise<void> {
  const told = new Set<string>();
  const until = performance.now() + mostMs;
  for (const held of andMeanwhile(to, missed)) {
    if (to.client.ended()) break;
    if (held.identity !== null && told.has(held.identity)) continue;
    if (held.identity !== null) told.add(held.identity);
    const leftMs = until - performance.now();
    if (to.client.inLine() > BEHIND_MAX_BYTES / 2 && leftMs > 0) await to.client.emptied(leftMs);
    write(to, held);
  }
  to.held = null;
}

/** What was missed, and behind it what comes in while that is sent. */
function* andMeanwhile(to: Subscriber, missed: readonly Held[]): Generator<Held> {
  yield* missed;
  for (let next = to.held?.shift(); next !== undefined; next = to.held?.shift()) yield next;
}

/** Stands in for all of these: one gap for the events among them, and one for the posts. */
function gapsFor(all: readonly Held[], mint: string | null): Held[] {
  const reason = 'too much happened while what was missed was read';
  const { chain, post }: Position = Object.assign({}, ...all.map(({ part }) => part));
  return [
    ...(chain === undefined ? [] : [gapOf(reason, 'activity', mint, { chain })]),
    ...(post === undefined ? [] : [gapOf(reason, 'posts', mint, { post })]),
  ];
}

/** A gap, which says what to read instead of the things that are not sent one by one. */
export function gapOf(reason: string, what: 'activity' | 'posts', mint: string | null, part: Position): Held {
  const read = `/coins/${mint ?? ':mint'}/${what}`;
  return { identity: null, part, bytes: sharedEvent('gap', { reason, read }) };
}
