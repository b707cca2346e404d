import { afterEach, describe, expect, test } from 'vitest';
import type { NumberedPosts } from '../../../api/deps/posts.ts';
import { hasManyEvents } from '../../../clickhouse/queries/activity/stream-events.ts';
import type { AgentPost } from '../../../schemas/responses/coin/posts.ts';
import { isoMillis, isoTime } from '../../../schemas/units.ts';
import { awaited } from '../../support/awaited.ts';
import { NOW } from '../support/api.ts';
import { appliedRow, eventRow, gapRow, key, mintRow, policyRow, signature, TIME } from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';
import { type Listener, listenTo } from './support/listen.ts';
import { numberedPostsOf } from './support/numbered-posts.ts';

/** Longer than memory is kept warm without readers. */
const A_WHILE_MS = 300;

let stored: AgentPost[] = [];
const posts: NumberedPosts = { ...numberedPostsOf(() => stored), unsettled: async () => [] };
const postOf = (number: number, coin: string): AgentPost => ({
  id: String(base + number).padStart(19, '0'),
  mint: key(coin),
  agent: key('agent'),
  model: { id: 1, name: 'm', provider: 'p', enabled: true },
  kind: 'update',
  text: `post ${number}`,
  venue: null,
  ref: null,
  createdAt: '2026-01-01T00:00:00.000Z',
});
function write(...more: AgentPost[]): void {
  stored = [...stored, ...more].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

const held = useApi(
  async (api) => {
    base += 1_000;
    // Before a first post each lower number would count as a writer's that may still commit.
    stored = [postOf(0, 'two')];
    await api.insert('policies', [policyRow('one', 'usd'), policyRow('two', 'usd')]);
    await api.insert('mints', [mintRow('usd', 6)]);
    await apply(1000);
  },
  { numberedPosts: posts, streamLimits: { mostOfAddress: 6 } },
);

/** Slots and numbers grow from test to test, as a connection may end a little after its test. */
let base = 0;
let offset = 0;
let events = 0;
const open: Listener[] = [];
async function listen(path: string, lastId?: string): Promise<Listener> {
  const listener = await listenTo(held.api.url + path, lastId);
  open.push(listener);
  return listener;
}
afterEach(async () => {
  for (const listener of open.splice(0)) {
    listener.close();
    await listener.ended;
  }
});

/** Applies a slot: events are sent only up to the lowest marker. */
async function apply(slot: number, more: object = {}): Promise<void> {
  offset += 1;
  const at = { slot: String(base + slot), log_offset: String(offset), ...more };
  await held.api.insert('applied', [appliedRow('transactions', 0, at), appliedRow('accounts', 0, at)]);
}
const happened = (coin: string, slot: number, name: string, change: object = {}) => {
  events += 1;
  return eventRow(coin, 'Routed', events, {
    signature: signature(name),
    slot: String(base + slot),
    summary: `{"n":"${name}"}`,
    ...change,
  });
};
const names = (listener: Listener) =>
  listener.heard.map(({ event, data }) =>
    event === 'activity' ? data.summary.n : event === 'post' ? data.text : event,
  );

describe('streamed events', () => {
  test('events equal the items of /coins/:mint/activity plus the mint, and are sent once their slot is applied', async () => {
    const listener = await listen(`/stream/activity?mint=${key('one')}`);
    expect([listener.status, listener.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    await held.api.insert('events', [happened('one', 1001, 'a'), happened('two', 1001, 'other')]);
    await held.api.insert('events', [happened('one', 1002, 'b')]);
    await apply(1001);
    await listener.until(1);
    await apply(1002);
    await listener.until(2);
    const { body } = await held.api.get<{ items: object[] }>(`/coins/${key('one')}/activity`);
    expect(listener.heard.map(({ data }) => data)).toEqual(
      body.items.toReversed().map((item) => ({ mint: key('one'), ...item })),
    );
  });

  test('events of all policies are sent if no mint is given, and only those of one kind if a kind is given', async () => {
    const all = await listen('/stream/activity?mint=&kind=');
    const burns = await listen('/stream/activity?kind=BaseLegBurned');
    await held.api.insert('events', [
      happened('one', 1001, 'a'),
      happened('two', 1001, 'b', { tx_index: 9 }),
      happened('two', 1001, 'burn', { kind: 'BaseLegBurned', tx_index: 10 }),
    ]);
    await apply(1001);
    await all.until(3);
    await burns.until(1);
    expect([names(all), names(burns)]).toEqual([['a', 'b', 'burn'], ['burn']]);
  });

  test('a client goes on after any id, given as Last-Event-ID or `after`, without gap or duplicate', async () => {
    const whole = await listen('/stream/activity');
    const at = (slot: number, index: number) =>
      happened('one', slot, `${slot}.${index}`, { tx_index: index });
    await held.api.insert('events', [at(1001, 0), at(1001, 1), at(1003, 0), at(1003, 1), at(1003, 2)]);
    await apply(1003);
    await whole.until(5);
    await held.api.insert('events', [at(1004, 0)]);
    for (const [from, { id }] of whole.heard.entries()) {
      const resumed = await listen('/stream/activity', id);
      await resumed.until(4 - from);
      expect(names(resumed), id).toEqual(names(whole).slice(from + 1, 5));
      resumed.close();
      await resumed.ended;
    }
    const after = `/stream/activity?after=${whole.heard[2]?.id}`;
    const begun = await listen(after);
    // An empty Last-Event-ID is ignored.
    const empty = await listen(after, '');
    await apply(1004);
    await begun.until(3);
    expect(names(begun)).toEqual(['1003.1', '1003.2', '1004.0']);
    await empty.until(1);
    expect(names(empty)[0]).toBe('1003.1');
  });

  test('a stream begins with an id, so that a client can resume though it was sent no event yet', async () => {
    const first = await listen('/stream/activity');
    await awaited(() => expect(first.lastId()).not.toBe(''));
    first.close();
    await held.api.insert('events', [happened('one', 1001, 'missed')]);
    await apply(1001);
    const again = await listen('/stream/activity', first.lastId());
    await again.until(1);
    expect(names(again)).toEqual(['missed']);
  });

  test('an event that comes late is sent to listeners, and is a gap for a returning client', async () => {
    const listener = await listen('/stream/activity');
    await held.api.insert('events', [happened('one', 1001, 'a')]);
    await apply(1001);
    await listener.until(1);
    const before = listener.heard[0]?.id;
    await held.api.insert('events', [happened('two', 1000, 'late')]);
    await apply(1002);
    await listener.until(2);
    expect(names(listener)).toEqual(['a', 'late']);
    const back = await listen(`/stream/activity?mint=${key('two')}`, before);
    await back.until(1);
    expect(back.heard[0]).toMatchObject({
      event: 'gap',
      data: {
        reason: 'events came late, in slots that were told already',
        read: `/coins/${key('two')}/activity`,
      },
    });
    const after = await listen('/stream/activity', back.heard[0]?.id);
    await held.api.insert('events', [happened('one', 1003, 'next')]);
    await apply(1003);
    await after.until(1);
    expect(names(after)).toEqual(['next']);
  });

  test('events that history brings are sent as a gap once the gap of history is closed', async () => {
    const listener = await listen('/stream/activity');
    await awaited(() => expect(listener.lastId()).not.toBe(''));
    await held.api.insert('gaps', [gapRow('900', { from_slot: '800', closed: 1 })]);
    await apply(1001);
    await listener.until(1);
    const back = await listen('/stream/activity', `e${base + 1000}.0.0.0`);
    await back.until(1);
    for (const { heard } of [listener, back])
      expect(heard[0]).toMatchObject({ event: 'gap', data: { read: '/coins/:mint/activity' } });
  });

  test('an unknown id, or one from the future, is answered with a gap', async () => {
    for (const id of ['nonsense', 'e9999999.0.0.0', 'p3.1']) {
      const listener = await listen('/stream/activity', id);
      await listener.until(1);
      expect(listener.heard[0], id).toMatchObject({
        event: 'gap',
        data: { reason: 'the position is not known here' },
      });
      listener.close();
      await listener.ended;
    }
  });
});

describe('streamed posts', () => {
  test('posts are sent as stored, for one mint or all, and beside events where asked for', async () => {
    const mine = await listen(`/stream/posts?mint=${key('one')}`);
    const both = await listen('/stream/activity?posts=true');
    write(postOf(1, 'one'), postOf(2, 'two'));
    await mine.until(1);
    await both.until(2);
    await held.api.insert('events', [happened('one', 1001, 'a')]);
    await apply(1001);
    await both.until(3);
    expect(mine.heard[0]?.data).toEqual(postOf(1, 'one'));
    expect(names(both)).toEqual(['post 1', 'post 2', 'a']);
    both.close();
    write(postOf(3, 'one'));
    const back = await listen('/stream/activity?posts=true', both.heard[1]?.id);
    await back.until(2);
    expect(names(back).toSorted()).toEqual(['a', 'post 3']);
  });

  test('texts with line breaks or the syntax of the stream arrive as written, in posts and events', async () => {
    const text =
      'one\n\nevent: end\ndata: {"reason":"over"}\r\n\r\nid: 7\u2028\u2029\u0085\u202e\u0000</script>';
    const listener = await listen(`/stream/posts?mint=${key('one')}`);
    const both = await listen('/stream/activity?posts=true');
    write({ ...postOf(1, 'one'), text, ref: text, venue: text });
    await held.api.insert('events', [happened('one', 1001, 'a', { summary: JSON.stringify({ n: text }) })]);
    await apply(1001);
    write(postOf(2, 'one'));
    await listener.until(2);
    await both.until(3);
    expect(listener.heard.map(({ event, data }) => [event, data.text])).toEqual([
      ['post', text],
      ['post', 'post 2'],
    ]);
    expect(listener.heard[0]?.data).toMatchObject({ ref: text, venue: text });
    expect(names(both).toSorted()).toEqual([text, text, 'post 2'].toSorted());
  });

  test('a post that becomes visible after a higher id is sent to listeners, and is a gap for a returning client', async () => {
    write(postOf(1, 'one'));
    const listener = await listen('/stream/posts');
    write(postOf(3, 'one'));
    await listener.until(1);
    const id = listener.heard[0]?.id;
    write(postOf(2, 'one'));
    await listener.until(2);
    expect(names(listener)).toEqual(['post 3', 'post 2']);
    const back = await listen('/stream/posts', id);
    await back.until(1);
    expect(back.heard[0]).toMatchObject({ event: 'gap', data: { read: '/coins/:mint/posts' } });
  });
});

describe('streamed rankings', () => {
  test('a ranking is sent whole, at first and after each change, to a returning client only if its id is not the newest', async () => {
    const listener = await listen('/stream/rankings?sort=newest&order=asc');
    await listener.until(1);
    const { body } = await held.api.get('/rankings?sort=newest&order=asc&limit=50');
    expect(listener.heard[0]).toMatchObject({ event: 'ranking', data: body });
    await held.api.insert('policies', [policyRow('three', 'usd')]);
    await listener.until(2);
    expect(listener.heard[1]?.data.total).toBe(3);
    const again = await listen('/stream/rankings?order=asc&sort=newest', listener.heard[0]?.id);
    await again.until(1);
    expect(again.heard[0]?.id).toBe(listener.heard[1]?.id);
    const current = await listen('/stream/rankings?order=asc&sort=newest', listener.heard[1]?.id);
    await held.api.insert('policies', [policyRow('four', 'usd')]);
    await Promise.all([listener.until(3), again.until(2), current.until(1)]);
    expect(current.heard.map(({ id }) => id)).toEqual([listener.heard[2]?.id]);
    expect(again.heard[1]?.id).toBe(listener.heard[2]?.id);
  });

  test('a ranking is not sent again when only the time of a sum of zero moves on', async () => {
    const path = '/stream/rankings?sort=newest&order=asc';
    const listener = await listen(path);
    await listener.until(1);
    const nothing = listener.heard[0]?.data.items[0].fees;
    expect(nothing.value).toBe('0');
    await apply(1005, { block_time: TIME + 5_000 });
    // A client that comes now is sent the new slot.
    await awaited(async () => {
      const newcomer = await listen(path);
      await newcomer.until(1);
      newcomer.close();
      await newcomer.ended;
      expect(newcomer.heard[0]?.data.items[0].fees.asOf).not.toBe(nothing.asOf);
      expect(newcomer.heard[0]?.id).toBe(listener.heard[0]?.id);
    });
    await held.api.insert('policies', [policyRow('three', 'usd')]);
    await listener.until(2);
    expect(listener.heard[1]?.data.total).toBe(3);
  });

  test('a ranking is not sent again when only the time of a zero sum in dollars moves on, as its price is newer', async () => {
    const price = { mint: key('usd'), source: 'catalogue', read_at: String(NOW), usd: '2' };
    await held.api.insert('prices', [{ ...price, observed_at: isoMillis(NOW) }]);
    const path = '/stream/rankings?sort=newest&order=asc';
    const listener = await listen(path);
    await listener.until(1);
    const nothing = listener.heard[0]?.data.items[0].usd.fees;
    expect(nothing).toMatchObject({ value: '0.000000', asOf: isoTime(TIME + 400) });
    await apply(1005, { block_time: TIME + 450 });
    let newest: string | undefined;
    await awaited(async () => {
      const newcomer = await listen(path);
      await newcomer.until(1);
      newcomer.close();
      await newcomer.ended;
      expect(newcomer.heard[0]?.data.items[0].usd.fees.asOf).toBe(isoTime(TIME + 450));
      newest = newcomer.heard[0]?.id;
    });
    expect(newest).toBe(listener.heard[0]?.id);
    await held.api.insert('policies', [policyRow('three', 'usd')]);
    await listener.until(2);
    expect(listener.heard[1]?.data.total).toBe(3);
  });

  test('an unchanged ranking is not sent again to a returning client, though nobody followed it meanwhile', async () => {
    const first = await listen('/stream/rankings?sort=newest');
    await first.until(1);
    first.close();
    await first.ended;
    const back = await listen('/stream/rankings?sort=newest', first.heard[0]?.id);
    // A client without an id is answered by the same look; later changes are sent to both.
    const other = await listen('/stream/rankings?sort=newest');
    await other.until(1);
    await held.api.insert('policies', [policyRow('four', 'usd')]);
    await Promise.all([other.until(2), back.until(1)]);
    expect(back.heard.map(({ id }) => id)).toEqual([other.heard[1]?.id]);
  });

  test('after an unknown id the ranking is preceded by a gap that names the URL to read', async () => {
    const listener = await listen('/stream/rankings?sort=profit&mode=Agent', 'nonsense');
    await listener.until(2);
    expect(listener.heard[0]).toMatchObject({
      event: 'gap',
      data: {
        reason: 'the position is not known here',
        read: '/rankings?sort=profit&mode=Agent&limit=50',
      },
    });
    expect(listener.heard[1]).toMatchObject({ event: 'ranking', data: { sort: 'profit' } });
  });
});

describe('refused ids and parameters, and limits of streams', () => {
  test.each([
    ['/stream/activity?mint=x', 'unknown mint "x". Valid: a base58 public key'],
    ['/stream/activity?kind=Nothing', 'unknown kind "Nothing". Valid: '],
    ['/stream/activity?posts=1', 'unknown posts "1". Valid: true, false'],
    ['/stream/rankings?sort=x', 'unknown ranking "x". Valid: '],
  ])('%s is a 400 that names what is valid', async (path, sentence) => {
    const reply = await held.api.request('GET', path);
    expect(reply.status).toBe(400);
    expect((reply.body as { error: string }).error).toContain(sentence);
  });

  test('an unknown id is not repeated in the stream, even if it holds the lines of an event', async () => {
    const forged = encodeURIComponent('x\nevent: post\ndata: {"text":"forged"}\n\n');
    const listener = await listen(`/stream/posts?after=${forged}`);
    await listener.until(1);
    expect(listener.heard).toMatchObject([{ event: 'gap' }]);
    const ranking = await listen(`/stream/rankings?after=${forged}`);
    await ranking.until(2);
    expect(ranking.heard.map(({ event }) => event)).toEqual(['gap', 'ranking']);
  });

  test('clients that come and go cause no new query for events while nothing is applied', async () => {
    const first = await listen('/stream/activity');
    first.close();
    await first.ended;
    const asked = held.api.queries('FROM events_by_slot WHERE slot');
    expect(asked).toBeGreaterThan(0);
    // Nor after a while without readers, when memory is not kept warm any more.
    await awaited(() => expect(held.api.latest.idleMs()).toBeGreaterThan(A_WHILE_MS));
    for (let at = 0; at < 12; at += 1) {
      // A client's place becomes free a little after it has gone.
      const listener = await awaited(async () => {
        const listening = await listen('/stream/activity');
        expect(listening.status).toBe(200);
        return listening;
      });
      listener.close();
      await listener.ended;
    }
    expect(held.api.queries('FROM events_by_slot WHERE slot')).toBe(asked);
  });

  test('hasManyEvents is true if at least the given number of events was missed', async () => {
    await held.api.insert(
      'events',
      ['a', 'b', 'c'].map((name) => happened('one', 990, name)),
    );
    const many = (most: number) =>
      hasManyEvents(held.api.latest.currentStore(), 0n, BigInt(base + 1000), most);
    expect([await many(3), await many(4)]).toEqual([true, false]);
  });

  test('an address may have six streams open, and one more is 429 with Retry-After', async () => {
    for (let at = 0; at < 6; at += 1) expect((await listen('/stream/posts')).status).toBe(200);
    const reply = await held.api.request('GET', '/stream/posts');
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '10']);
  });
});
