import { setTimeout as delay } from 'node:timers/promises';
import { eachYielding } from '../../runtime/yielding.ts';
import { createReadGate } from '../http/turns/read-gate.ts';
import type { ActivityFeed } from './activity.ts';
import type { StreamClient } from './client.ts';
import type { Clients } from './clients.ts';
import { eventMessage, newsMessage, postMessage, wantsEvent, wantsNews, wantsPost } from './messages.ts';
import {
  type ChainPosition,
  type Position,
  type PostPosition,
  positionText,
  readPosition,
} from './position.ts';
import type { PostFeed } from './posts.ts';
import { gapMessage, type StreamMessage, type Subscriber, send, sendMissed } from './subscribers.ts';
import { createTicker } from './ticker.ts';
import { beginText } from './wire.ts';

export interface HubParts {
  clients: Clients;
  activity: ActivityFeed;
  /** Null where there is no agent side. */
  posts: PostFeed | null;
  /** How long a client that wants events, too, waits for posts that do not begin. */
  postsWaitMs?: number | undefined;
  onError(error: unknown): void;
}

export type Subscription = Pick<Subscriber, 'mint' | 'kind' | 'events' | 'posts'>;

/** How often to look for what was applied, and for what was posted. */
const EVERY_MS = 100;
/** The longest pause between two looks for posts, where Postgres is away. */
const AWAY_MS = 5_000;
const POSTS_WAIT_MS = 1_000;
const CATCH_UPS = 2;
const MOST_CATCH_UPS = 10_000;
const CATCH_UP_WAIT_MS = 60_000;
/** How long a client is waited for that reads what it missed, and how many are: any others are sent it at once. */
const WAITED_MS = 10_000;
const MOST_WAITED_FOR = 64;
const NOT_KNOWN_HERE = 'the position is not known here';

/** Sends every client what happens: each store is asked once for all of them. */
export function createHub({ clients, activity, posts, postsWaitMs = POSTS_WAIT_MS, onError }: HubParts) {
  const subscribers = new Set<Subscriber>();
  let beingTold = 0;
  /** Clients that events and posts have begun for, including those that are no subscribers yet. */
  const followers = { events: new Set<StreamClient>(), posts: new Set<StreamClient>() };
  /** Clients that come back ask for what they missed: a few at a time, and none of them again before others. */
  const catchUpGate = () =>
    createReadGate({ atOnce: CATCH_UPS, most: MOST_CATCH_UPS, waitMs: CATCH_UP_WAIT_MS });
  /**
   * By what is missed: a client of one waits for no store of the other; for one of both, nothing is read before its
   * turn.
   */
  const gates = { events: catchUpGate(), posts: catchUpGate(), both: catchUpGate() };
  /** Whatever moves a tip runs one at a time. Events wait for no post, nor posts for events. */
  const [eventsInTurn, postsInTurn] = [createLine(), createLine()];

  async function sendEvents(): Promise<void> {
    const { events, gap } = await activity.news();
    const tip = activity.tip();
    await sendToAll(events, newsMessage, wantsNews);
    if (gap === null) return;
    await eachYielding([...subscribers], (one) => {
      if (one.events) send(one, gapMessage(gap, 'activity', one.mint, { chain: tip }));
    });
  }

  /** Each thing is serialised once, and other work runs in between: things times clients may be a million. */
  async function sendToAll<Thing>(
    things: readonly Thing[],
    messageOf: (thing: Thing) => StreamMessage,
    wants: (one: Subscriber, thing: Thing) => boolean,
  ): Promise<void> {
    const all = things.map((thing) => ({ thing, message: messageOf(thing) }));
    function* told() {
      for (const one of [...subscribers]) {
        for (const { thing, message } of all) if (wants(one, thing)) yield { one, message };
        // To find that a client wants none of them takes its time, too.
        yield null;
      }
    }
    await eachYielding(told(), (next) => {
      if (next !== null) send(next.one, next.message);
    });
  }

  async function sendPosts(): Promise<void> {
    if (posts === null) return;
    const isBegun = posts.tip() !== null;
    await sendToAll(await posts.news(), postMessage, wantsPost);
    const tip = posts.tip();
    if (isBegun || tip === null) return;
    for (const one of subscribers) if (one.posts) send(one, postsGap(one, tip));
  }
  const postsGap = ({ mint }: Subscriber, post: PostPosition) =>
    gapMessage('posts could not be read for a while', 'posts', mint, { post });

  const tickers = [
    createTicker({
      everyMs: EVERY_MS,
      wanted: () => followers.events.size > 0,
      tick: () => eventsInTurn(sendEvents),
      onError,
    }),
    createTicker({
      everyMs: EVERY_MS,
      mostMs: AWAY_MS,
      wanted: () => followers.posts.size > 0,
      tick: () => postsInTurn(sendPosts),
      onError,
    }),
  ];

  /** Brings the tips up to the stores, where nobody listened before or a client is further than this process. */
  async function upToDate(one: Subscriber, wanted: Subscription, since: Position | null): Promise<void> {
    const { client } = one;
    const events = async () => {
      if (followers.events.size === 0) await activity.begin();
      else if ((since?.chain?.slot ?? 0n) > activity.tip().slot) await sendEvents();
      if (!client.body.destroyed) followers.events.add(client);
    };
    const newPosts = async () => {
      if (client.body.destroyed) return;
      const isFirst = followers.posts.size === 0;
      // Without Postgres the events are sent all the same, and a gap once posts can be read again.
      followers.posts.add(client);
      const tip = posts?.tip() ?? null;
      if (isFirst) await posts?.begin();
      // Where posts have not begun the ticker asks, once for all clients.
      else if (tip !== null && (since?.post?.id ?? 0n) > tip.id) await sendPosts();
    };
    const postsBegin = async () => {
      await newPosts().catch(onError);
      one.posts = true;
      const tip = posts?.tip() ?? null;
      // The client's stream has begun without posts.
      if (subscribers.has(one) && tip !== null) send(one, postsGap(one, tip));
    };
    const inTime = (begun: Promise<void>) =>
      wanted.events ? Promise.race([begun, delay(postsWaitMs, undefined, { ref: false })]) : begun;
    await Promise.all([
      wanted.events ? eventsInTurn(events) : undefined,
      wanted.posts ? inTime(postsInTurn(postsBegin)) : undefined,
    ]);
  }

  async function missedEvents(
    one: Subscriber,
    since: ChainPosition | undefined,
    tip: ChainPosition,
  ): Promise<StreamMessage[]> {
    // Nothing is read for a client that went away while it waited.
    if (one.client.ended()) return [];
    const { events, gap } =
      since === undefined ? { events: [], gap: NOT_KNOWN_HERE } : await activity.missed(since, tip, one.mint);
    const missed = events.filter((event) => wantsEvent(one, event)).map(eventMessage);
    return gap === null ? missed : [...missed, gapMessage(gap, 'activity', one.mint, { chain: tip })];
  }

  async function missedPosts(
    one: Subscriber,
    since: PostPosition | undefined,
    tip: PostPosition,
  ): Promise<StreamMessage[]> {
    if (one.client.ended()) return [];
    const told = since === undefined ? null : await posts?.missed(since, tip, one.mint);
    return told?.map(postMessage) ?? [gapMessage(NOT_KNOWN_HERE, 'posts', one.mint, { post: tip })];
  }

  /** Sends a client what it missed, read in turns; how fast it reads holds up no other. */
  async function catchUp(one: Subscriber, address: string, since: Position | null, tip: Position) {
    const { chain, post } = tip;
    const gate = gates[chain === undefined ? 'posts' : post === undefined ? 'events' : 'both'];
    const missed = await gate(address, async () => [
      ...(chain === undefined ? [] : await missedEvents(one, since?.chain, chain)),
      ...(post === undefined ? [] : await missedPosts(one, since?.post, post)),
    ]);
    const mostMs = beingTold < MOST_WAITED_FOR ? WAITED_MS : 0;
    beingTold += 1;
    await sendMissed(one, missed, mostMs).finally(() => {
      beingTold -= 1;
    });
  }

  return {
    /** A connection that is sent what it wants from `lastId` on, or from now; a string where there is no room. */
    subscribe: async (address: string, wanted: Subscription, lastId: string | null) => {
      const since = lastId === null ? null : readPosition(lastId);
      // The place is taken first: a client that comes and goes has the stores asked for no more than it has places.
      const client = clients.open(address);
      if (typeof client === 'string') return client;
      client.body.once('close', () => {
        for (const those of Object.values(followers)) those.delete(client);
      });
      const queued = lastId === null ? null : [];
      const one: Subscriber = { ...wanted, posts: false, client, position: {}, queued };
      try {
        await upToDate(one, wanted, since);
      } catch (error) {
        client.body.destroy();
        throw error;
      }
      const post = one.posts ? (posts?.tip() ?? null) : null;
      const tip: Position = {
        ...(wanted.events ? { chain: activity.tip() } : {}),
        ...(post === null ? {} : { post }),
      };
      // A part that the client's id lacks enters no id before its gap: cut off before that, it is sent the gap next
      // time.
      one.position = lastId === null ? tip : (since ?? {});
      subscribers.add(one);
      client.body.once('close', () => subscribers.delete(one));
      for (const ticker of tickers) ticker.wake();
      client.write(beginText(positionText(one.position) || (lastId === null ? null : unreadable(lastId))));
      if (lastId !== null)
        catchUp(one, address, since, tip).catch((error: unknown) => {
          if (one.client.ended()) return;
          onError(error);
          client.end('what was missed could not be read: try again');
        });
      return client.body;
    },
  };
}

/** Ids that are repeated: perhaps our own, of another version. Any other may hold lines that somebody put into it. */
const REPEATED = /^[\w.-]{1,100}$/;
const UNKNOWN = 'unknown';

/**
 * The id sent in place of one that cannot be read, until its gap is sent: cut off before, the client comes back with
 * it, perhaps to a process that can read it. Without any id the client would count as new, since by the standard the
 * first block without one takes it from the client.
 */
const unreadable = (id: string): string => (REPEATED.test(id) ? id : UNKNOWN);

/** Runs work one at a time: each waits until the one before has ended, however it did. */
function createLine() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work, work);
    last = done.catch(() => undefined);
    return done;
  };
}
