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
  position: Position;
  /** What came live while the things it missed are read and sent; null once they were. */
  queued: StreamMessage[] | null;
}

export interface StreamMessage {
  /** Of the event or post; null for a gap. */
  identity: string | null;
  part: Position;
  bytes: SharedEvent;
}

/** As much as may happen at once and still be sent one by one. */
const MOST_QUEUED = 2_000;

/** Sends a client something, and moves its position; while the client catches up, that waits. */
export function send(to: Subscriber, message: StreamMessage): void {
  if (to.queued !== null) {
    if (to.queued.length >= MOST_QUEUED) to.queued = gapsFor(to.queued, to.mint);
    to.queued.push(message);
    return;
  }
  write(to, message);
}

function write(to: Subscriber, { part, bytes }: StreamMessage): void {
  to.position = { ...to.position, ...part };
  to.client.write(bytes(positionText(to.position)));
}

/**
 * Sends what was missed, then what came meanwhile, each thing once, and as fast as the client reads: together it may be
 * more than may wait for one client.
 * @param mostMs for how long the client is waited for; what is left then is sent at once
 */
export async function sendMissed(
  to: Subscriber,
  missed: readonly StreamMessage[],
  mostMs: number,
): Promise<void> {
  const told = new Set<string>();
  const until = performance.now() + mostMs;
  for (const message of andMeanwhile(to, missed)) {
    if (to.client.ended()) break;
    if (message.identity !== null && told.has(message.identity)) continue;
    if (message.identity !== null) told.add(message.identity);
    const leftMs = until - performance.now();
    if (to.client.queuedBytes() > BEHIND_MAX_BYTES / 2 && leftMs > 0) await to.client.whenDrained(leftMs);
    write(to, message);
  }
  to.queued = null;
}

/** What was missed, and behind it what comes in while that is sent. */
function* andMeanwhile(to: Subscriber, missed: readonly StreamMessage[]): Generator<StreamMessage> {
  yield* missed;
  for (let next = to.queued?.shift(); next !== undefined; next = to.queued?.shift()) yield next;
}

/** Stands in for all of these: one gap for the events among them, and one for the posts. */
function gapsFor(all: readonly StreamMessage[], mint: string | null): StreamMessage[] {
  const reason = 'too much happened while what was missed was read';
  const { chain, post }: Position = Object.assign({}, ...all.map(({ part }) => part));
  return [
    ...(chain === undefined ? [] : [gapMessage(reason, 'activity', mint, { chain })]),
    ...(post === undefined ? [] : [gapMessage(reason, 'posts', mint, { post })]),
  ];
}

/** A gap, which says what to read instead of the things that are not sent one by one. */
export function gapMessage(
  reason: string,
  what: 'activity' | 'posts',
  mint: string | null,
  part: Position,
): StreamMessage {
  const read = `/coins/${mint ?? ':mint'}/${what}`;
  return { identity: null, part, bytes: sharedEvent('gap', { reason, read }) };
}
