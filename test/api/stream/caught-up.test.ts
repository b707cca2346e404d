import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setImmediate as breathe } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ActivityFeed } from '../../../api/stream/activity.ts';
import { createClient } from '../../../api/stream/client.ts';
import { createClients } from '../../../api/stream/clients.ts';
import { createHub } from '../../../api/stream/hub.ts';
import { createPostFeed } from '../../../api/stream/posts.ts';
import { type StreamMessage, type Subscriber, send, sendMissed } from '../../../api/stream/subscribers.ts';
import { createWaitingBytes } from '../../../api/stream/waiting-bytes.ts';
import { sharedEvent } from '../../../api/stream/wire.ts';
import type { AgentPost } from '../../../schemas/responses/coin/posts.ts';
import { awaited } from '../../support/awaited.ts';
import { numberedPostsOf } from './support/numbered-posts.ts';

const TEXT = 'x'.repeat(3_000);
/** The longest time of a timer. */
const FOREVER_MS = 2 ** 31 - 1;
const ALL_POSTS = { mint: null, kind: null, events: false, posts: true };

const LAST = 'p250.100';
const AT = '2026-01-01T00:00:00.000Z';

const idsIn = (text: string) => [...text.matchAll(/^id: p(\d+)\./gm)].map(([, id]) => Number(id));

/** Reads until `isAll` holds, or the stream announces its end. */
async function read(body: Readable, isAll: (text: string) => boolean): Promise<string> {
  let text = '';
  body.on('data', (chunk) => {
    text += chunk;
  });
  await awaited(() => expect(isAll(text) || text.includes('event: end')).toBe(true));
  return text;
}

/** A client that comes back, and has missed two and a half times as many bytes as may wait for it. */
function cameBack() {
  const client = createClient(createWaitingBytes(), () => undefined);
  const to: Subscriber = { ...ALL_POSTS, client, position: {}, queued: [] };
  const postMessage = (id: number): StreamMessage => ({
    identity: String(id),
    part: { post: { id: BigInt(id), recent: 1 } },
    bytes: sharedEvent('post', { id, text: TEXT }),
  });
  const missed = Array.from({ length: 850 }, (_, n) => postMessage(n + 1));
  return { client, to, missed, postMessage };
}

/** A hub that has 1,100 posts, 850 of them behind `LAST`. */
function hubOfPosts(errors: unknown[]) {
  const stored = Array.from(
    { length: 1_100 },
    (_, n) => ({ id: `${n + 1}`, text: TEXT, createdAt: AT }) as AgentPost,
  );
  const numbered = numberedPostsOf(() => stored);
  const hub = createHub({
    ...{ clients: createClients(), activity: {} as ActivityFeed, posts: createPostFeed(numbered) },
    onError: (error) => void errors.push(error),
  });
  return async (address: string) => {
    const body = await hub.subscribe(address, ALL_POSTS, LAST);
    if (typeof body === 'string') throw new Error(body);
    return body;
  };
}

test('a client that missed more bytes than may wait for it, and reads, gets all of them over one connection', async () => {
  const errors: unknown[] = [];
  const body = await hubOfPosts(errors)('192.0.2.1');
  const text = await read(body, (told) => told.includes('id: p1100.'));
  expect(idsIn(text)).toEqual(Array.from({ length: 851 }, (_, n) => 250 + n));
  expect(errors).toEqual([]);
  body.destroy();
});

test('clients that do not read what they missed do not delay another client', async () => {
  const errors: unknown[] = [];
  const comesBack = hubOfPosts(errors);
  const silent = await Promise.all(Array.from({ length: 20 }, (_, n) => comesBack(`198.51.100.${n}`)));
  const body = await comesBack('192.0.2.1');
  const text = await read(body, (told) => told.includes('id: p1100.'));
  expect(idsIn(text)).toHaveLength(851);
  expect(errors).toEqual([]);
  for (const one of [body, ...silent]) one.destroy();
});

test('messages that arrive while a client reads what it missed are sent after that, each once', async () => {
  const { client, to, missed, postMessage } = cameBack();
  const told = sendMissed(to, missed, FOREVER_MS);
  await breathe();
  for (const id of [850, 851, 852]) send(to, postMessage(id));
  const text = await read(client.body, (all) => all.includes('id: p852.'));
  await told;
  expect(idsIn(text)).toEqual(Array.from({ length: 852 }, (_, n) => 1 + n));
  expect(to.queued).toBeNull();
  client.body.destroy();
});

test('a client that does not read what it missed is ended with the reason after the time limit', async () => {
  const { client, to, missed } = cameBack();
  await sendMissed(to, missed, 20);
  expect([client.ended(), to.queued]).toEqual([true, null]);
  expect(await read(client.body, () => false)).toMatch(
    /event: end\ndata: {"reason":"this client reads too slowly/,
  );
});

test('sending what was missed stops once the client disconnects or is ended', async () => {
  const gone = cameBack();
  const untilGone = sendMissed(gone.to, gone.missed, FOREVER_MS);
  await once(gone.client.body.destroy(), 'close');
  await untilGone;
  const ended = cameBack();
  const untilEnded = sendMissed(ended.to, ended.missed, FOREVER_MS);
  ended.client.end('over');
  await untilEnded;
  expect([gone.to.queued, ended.to.queued]).toEqual([null, null]);
  ended.client.body.destroy();
});
