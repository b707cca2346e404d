import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { NumberedPosts } from '../../../api/deps/posts.ts';
import type { StreamClient } from '../../../api/stream/client.ts';
import { createClients } from '../../../api/stream/clients.ts';
import { createHub, type HubParts } from '../../../api/stream/hub.ts';
import { createPostFeed } from '../../../api/stream/posts.ts';
import { createTicker } from '../../../api/stream/ticker.ts';
import type { AgentPost } from '../../../schemas/responses/coin/posts.ts';
import { awaited } from '../../support/awaited.ts';
import { numberedPostsOf } from './support/numbered-posts.ts';

/** When each post was made: ids end with it, in unix milliseconds. */
const AT = '1970-01-01T00:00:00.007Z';
const postOf = (id: string, text?: string) =>
  ({ id, mint: 'm', ...(text && { text }), createdAt: AT }) as AgentPost;
const data = (post: AgentPost) => JSON.stringify(post);

/** A hub over events that the test makes, and over posts that can be away or hang. */
function hubOver() {
  const stored = [postOf('1')];
  const errors: string[] = [];
  const tip = { slot: 5n, ordinal: 0, recent: 0, derived: 0, closedGaps: 0, late: 0 };
  let state: 'there' | 'away' | 'hangs' = 'away';
  let happens = 0;
  /** For how many clients missed events and posts were read. */
  const readFor = { events: 0, posts: 0 };
  let held: Promise<void> | null = null;
  const hanging: PromiseWithResolvers<void>[] = [];
  const answer = async <T>(of: () => T | Promise<T>): Promise<T> => {
    if (state === 'hangs') {
      const over = Promise.withResolvers<void>();
      hanging.push(over);
      await over.promise;
    }
    if (state === 'away') throw new Error('nobody answers');
    return of();
  };
  const there = numberedPostsOf(() => stored);
  const numbered: NumberedPosts = {
    newest: () => answer(there.newest),
    behind: (after, most) => answer(() => there.behind(after, most)),
    among: (numbers) => answer(() => there.among(numbers)),
    unsettled: async () => [],
  };
  const activity: HubParts['activity'] = {
    begin: async () => {},
    tip: () => tip,
    missed: async () => {
      readFor.events += 1;
      await held;
      return { events: [], gap: null };
    },
    news: async () => {
      const events = Array.from({ length: happens }, (_, n) => ({
        ...{ identity: `${n}`, mint: 'm', kind: 'k', data: { n } },
        position: { ...tip, slot: 6n, ordinal: n + 1 },
      }));
      happens = 0;
      return { events, gap: null };
    },
  };
  const feed = createPostFeed(numbered);
  const postsMissed: typeof feed.missed = (...asked) => {
    readFor.posts += 1;
    return feed.missed(...asked);
  };
  const clients = createClients();
  const opened: StreamClient[] = [];
  const open = (address: string) => {
    const client = clients.open(address);
    if (typeof client !== 'string') opened.push(client);
    return client;
  };
  const hub = createHub({
    ...{ clients: { ...clients, open }, activity, posts: { ...feed, missed: postsMissed } },
    onError: (error) => void errors.push((error as Error).message),
  });
  const listen = async (wanted: { events: boolean; posts: boolean }, lastId: string | null = null) => {
    const body = await hub.subscribe('192.0.2.1', { mint: null, kind: null, ...wanted }, lastId);
    if (typeof body === 'string') throw new Error(body);
    let text = '';
    body.on('data', (chunk) => {
      text += chunk;
    });
    const told = () =>
      [...text.matchAll(/event: (\w+)\nid: (.*)\ndata: (.*)\n\n/g)].map((one) => one.slice(1));
    return { told, close: () => void body.destroy() };
  };
  return {
    ...{ stored, errors, opened, listen, hanging: () => hanging.length, readFor: () => readFor },
    holdEvents: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    is: (now: typeof state) => {
      state = now;
    },
    /** Answers the query that hangs; `fails` fails it. */
    goesOn: () => hanging.shift()?.resolve(),
    fails: () => hanging.shift()?.reject(new Error('nobody answers')),
    happen: () => {
      happens = 1;
    },
  };
}

test('while Postgres is away events are sent, and a gap for the posts once it is back', async () => {
  const { stored, errors, listen, is, happen } = hubOver();
  const both = await listen({ events: true, posts: true });
  const alone = await listen({ events: false, posts: true });
  happen();
  await awaited(() => expect(both.told()).toEqual([['activity', 'e6.1.0.0', '{"n":0}']]));
  expect(new Set(errors)).toEqual(new Set(['nobody answers']));
  stored.push(postOf('2'));
  is('there');
  const gap = JSON.stringify({ reason: 'posts could not be read for a while', read: '/coins/:mint/posts' });
  await awaited(() => expect(alone.told()).toEqual([['gap', 'p2.2.7', gap]]));
  expect(both.told()[1]).toEqual(['gap', 'e6.1.0.0-p2.2.7', gap]);
  stored.push(postOf('3'));
  await awaited(() => expect(alone.told()[1]).toEqual(['post', 'p3.3.7', data(postOf('3'))]));
  for (const one of [both, alone]) one.close();
});

test('while Postgres hangs events are sent, and a new client of events can begin', async () => {
  const { listen, is, happen, hanging } = hubOver();
  is('there');
  const both = await listen({ events: true, posts: true });
  is('hangs');
  await awaited(() => expect(hanging()).toBe(1));
  const events = await listen({ events: true, posts: false });
  happen();
  await awaited(() => {
    for (const one of [both, events]) expect(one.told().map(([event]) => event)).toEqual(['activity']);
  });
  for (const one of [both, events]) one.close();
});

test('a client that returns while Postgres hangs gets events, and a gap for the posts once it answers', async () => {
  const { stored, errors, listen, is, happen, hanging, goesOn } = hubOver();
  is('hangs');
  const both = await listen({ events: true, posts: true }, 'e5.0.0.0-p7.7');
  expect(hanging()).toBe(1);
  happen();
  await awaited(() => expect(both.told()).toEqual([['activity', 'e6.1.0.0-p7.7', '{"n":0}']]));
  stored.push(postOf('9'));
  is('there');
  goesOn();
  const gap = JSON.stringify({ reason: 'posts could not be read for a while', read: '/coins/:mint/posts' });
  await awaited(() => expect(both.told().slice(1)).toEqual([['gap', 'e6.1.0.0-p9.2.7', gap]]));
  stored.push(postOf('10'));
  await awaited(() =>
    expect(both.told().slice(2)).toEqual([['post', 'e6.1.0.0-p10.3.7', data(postOf('10'))]]),
  );
  expect(errors).toEqual([]);
  both.close();
});

test('clients that return while Postgres hangs wait no longer than the first of them', async () => {
  const { listen, is, hanging, fails } = hubOver();
  is('hangs');
  const all = [1, 2, 3].map(() => listen({ events: false, posts: true }, 'p7.7'));
  await awaited(() => expect(hanging()).toBe(1));
  fails();
  for (const one of await Promise.all(all)) one.close();
});

test('a client that returns for events does not wait for those whose posts hang', async () => {
  const { listen, is, happen, hanging, goesOn, fails } = hubOver();
  is('there');
  const all = [await listen({ events: false, posts: true })];
  is('hangs');
  await awaited(() => expect(hanging()).toBe(1));
  const back = [1, 2].map(() => listen({ events: false, posts: true }, 'p1.1'));
  // Answers the query for all clients; now theirs hangs.
  goesOn();
  all.push(...(await Promise.all(back)));
  await awaited(() => expect(hanging()).toBeGreaterThan(0));
  const events = await listen({ events: true, posts: false }, 'e5.0.0.0');
  happen();
  await awaited(() => expect(events.told().map(([event]) => event)).toEqual(['activity']));
  for (const one of [...all, events]) one.close();
  while (hanging() > 0) fails();
});

test('what returning clients missed is read only in their turn, and new events are sent to others meanwhile', async () => {
  const { listen, is, happen, holdEvents, readFor } = hubOver();
  is('there');
  const here = await listen({ events: true, posts: true });
  const release = holdEvents();
  const back = Array.from({ length: 5 }, () => listen({ events: true, posts: true }, 'e5.0.0.0-p1.1'));
  const all = [here, ...(await Promise.all(back))];
  happen();
  await awaited(() => expect(here.told().map(([event]) => event)).toEqual(['activity']));
  expect(readFor().events).toBeGreaterThan(0);
  expect(readFor().events).toBeLessThanOrEqual(2);
  expect(readFor().posts).toBe(0);
  release();
  await awaited(() => expect(readFor()).toEqual({ events: 5, posts: 5 }));
  for (const one of all) one.close();
});

test('nothing is read for a returning client that disconnects before its turn', async () => {
  const { opened, listen, is, hanging, fails } = hubOver();
  is('hangs');
  const all = [1, 2].map(() => listen({ events: false, posts: true }, 'p7.7'));
  await awaited(() => expect(hanging()).toBe(1));
  await Promise.all(opened.map(({ body }) => once(body.destroy(), 'close')));
  fails();
  await Promise.all(all);
  expect(hanging()).toBe(0);
});

test('the ticker doubles its pause after each failure, up to a bound, and resets it after a success', async () => {
  const waits: number[] = [];
  const fails = [true, true, true, true, false, true, false];
  const over = Promise.withResolvers<void>();
  const ticker = createTicker({
    ...{ everyMs: 100, mostMs: 500, wanted: () => fails.length > 0, onError: () => {} },
    tick: async () => {
      if (fails.shift() === true) throw new Error('away');
    },
    pause: async (ms) => {
      waits.push(ms);
      if (fails.length === 0) over.resolve();
    },
  });
  ticker.wake();
  await over.promise;
  expect(waits).toEqual([200, 400, 500, 500, 100, 200, 100]);
});

test('after Postgres is restored from an older dump, listeners get a gap and then the new posts', async () => {
  const { stored, errors, listen, is, happen } = hubOver();
  const posts = (from: number, to: number, text: string) =>
    Array.from({ length: to - from + 1 }, (_, n) => postOf(String(from + n), text));
  stored.splice(0, 1, ...posts(1, 500, 'lost'));
  is('there');
  const alone = await listen({ events: false, posts: true });
  const both = await listen({ events: true, posts: true });
  stored.splice(200, 300, ...posts(201, 201, 'of a dump'));
  const gap = JSON.stringify({ reason: 'posts could not be read for a while', read: '/coins/:mint/posts' });
  await awaited(() => expect(alone.told()).toEqual([['gap', 'p201.100.7', gap]]));
  await awaited(() => expect(both.told()).toEqual([['gap', 'e5.0.0.0-p201.100.7', gap]]));
  const told = (id: number) => ['post', `p${id}.100.7`, data(postOf(String(id), 'of a dump'))];
  stored.push(...posts(202, 203, 'of a dump'));
  await awaited(() => expect(alone.told().slice(1)).toEqual([told(202), told(203)]));
  // Recent posts: their numbers were given to others (a restored dump) before the next look.
  stored.splice(201, 2, ...posts(202, 204, 'of another dump'));
  await awaited(() => expect(alone.told().slice(3)).toEqual([['gap', 'p204.100.7', gap]]));
  happen();
  await awaited(() => expect(both.told().at(-1)).toEqual(['activity', 'e6.1.0.0-p204.100.7', '{"n":0}']));
  expect(errors).toEqual([]);
  for (const one of [alone, both]) one.close();
});
