import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createClients } from '../../../api/stream/clients.ts';
import { createHub, type HubParts } from '../../../api/stream/hub.ts';
import type { AgentPost } from '../../../schemas/responses/coin/posts.ts';
import { awaited } from '../../support/awaited.ts';

/** A hub over stores that hold their answers back; notes what they were asked. */
function hubOver() {
  const asked: string[] = [];
  const held: (() => void)[] = [];
  const errors: unknown[] = [];
  let happens = 0;
  let happened = 0;
  const tip = { slot: 9n, ordinal: 0, recent: 0, derived: 0, closedGaps: 0, late: 0 };
  const activity: HubParts['activity'] = {
    begin: async () => {},
    tip: () => tip,
    news: async () => {
      const events = Array.from({ length: happens }, (_, n) => ({
        ...{ identity: `${happened + n}`, mint: 'm', kind: 'k', data: { n: happened + n } },
        position: { ...tip, slot: 10n, ordinal: happened + n + 1 },
      }));
      happened += happens;
      happens = 0;
      return { events, gap: null };
    },
    missed: async (since) => {
      asked.push(String(since.slot));
      await new Promise<void>((resolve) => void held.push(resolve));
      return { events: [], gap: null };
    },
  };
  const onError = (error: unknown) => void errors.push(error);
  const clients = createClients();
  const hub = createHub({ clients, activity, posts: null, onError });
  const wanted = { mint: null, kind: null, events: true, posts: false };
  const comesBack = async (address: string, lastId: string) => {
    const body = await hub.subscribe(address, wanted, lastId);
    if (typeof body === 'string') throw new Error(body);
    return body;
  };
  const listen = (address: string, slot: number) => comesBack(address, `e${slot}.0.0.0`);
  /** Has so many events happen, and waits until all listeners were sent them. */
  const happen = async (events: number) => {
    const before = happened;
    happens = events;
    await awaited(() => expect(happened).toBe(before + events));
    // A client that asks for what is applied by now waits until it has been sent.
    (await listen('192.0.2.8', 1)).destroy();
  };
  return { asked, held, errors, clients, comesBack, listen, happen };
}

/** The ids in the order in which they were sent, each with its event. */
const idsIn = (text: string) =>
  text
    .split('\n\n')
    .map((block) => [/^id: (.*)$/m.exec(block)?.[1], /^event: (.*)$/m.exec(block)?.[1] ?? 'begin'])
    .filter(([id]) => id !== undefined);

/** What a hub sends a client that comes back for events and posts at `lastId`. */
async function toldOfBoth(lastId: string): Promise<string> {
  const tip = { slot: 9n, ordinal: 0, recent: 2, derived: 0, closedGaps: 0, late: 0 };
  const activity: HubParts['activity'] = {
    begin: async () => {},
    tip: () => tip,
    news: async () => ({ events: [], gap: null }),
    missed: async () => ({
      events: [6n, 7n].map((slot) => ({
        ...{ identity: String(slot), mint: 'm', kind: 'k', data: { n: String(slot) } },
        position: { ...tip, slot, ordinal: 1 },
      })),
      gap: null,
    }),
  };
  const posts: HubParts['posts'] = {
    begin: async () => {},
    tip: () => ({ id: 50n, recent: 3 }),
    news: async () => [],
    missed: async () => [
      { position: { id: 50n, recent: 3 }, post: { id: '50', mint: 'm', text: 'missed' } as AgentPost },
    ],
  };
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const hub = createHub({ clients: createClients(), activity, posts, onError });
  const both = { mint: null, kind: null, events: true, posts: true };
  const body = await hub.subscribe('192.0.2.1', both, lastId);
  if (typeof body === 'string') throw new Error(body);
  let text = '';
  body.on('data', (chunk) => {
    text += chunk;
  });
  await awaited(() => expect(text).toMatch(/\/posts"}|"text":"missed"/));
  expect(errors).toEqual([]);
  body.destroy();
  return text;
}

test('events that arrive while a client’s missed ones are read are kept up to a limit; beyond it, it gets a gap', async () => {
  const { asked, held, errors, listen, happen } = hubOver();
  const body = await listen('192.0.2.1', 5);
  await awaited(() => expect(asked).toContain('5'));
  await happen(2_000);
  await happen(3);
  let text = '';
  body.on('data', (chunk) => {
    text += chunk;
  });
  held[0]?.();
  await awaited(() => expect(text).toContain('data: {"n":2002}\n\n'));
  const told = [...text.matchAll(/event: (\w+)\nid: e10\.(\d+)\.0\.0\ndata: (.*)\n\n/g)];
  expect(told.map(([, event, at]) => [event, at])).toEqual([
    ...[
      ['gap', '2000'],
      ['activity', '2001'],
      ['activity', '2002'],
      ['activity', '2003'],
    ],
  ]);
  expect(JSON.parse(told[0]?.[3] ?? '')).toEqual({
    reason: 'too much happened while what was missed was read',
    read: '/coins/:mint/activity',
  });
  expect(errors).toEqual([]);
  body.destroy();
});

test('what a client missed is not read if it has disconnected meanwhile', async () => {
  const { asked, held, errors, listen } = hubOver();
  const first = await listen('192.0.2.1', 1);
  const gone = await Promise.all([2, 3, 4, 5].map((slot) => listen('192.0.2.1', slot)));
  const last = await listen('192.0.2.9', 6);
  await Promise.all(gone.map((body) => once(body.destroy(), 'close')));
  await awaited(() => {
    for (const answer of held.splice(0)) answer();
    expect(asked).toContain('6');
  });
  for (const answer of held.splice(0)) answer();
  expect(asked.filter((slot) => ['3', '4', '5'].includes(slot))).toEqual([]);
  expect(errors).toEqual([]);
  for (const body of [first, last]) body.destroy();
});

test('no id covers what a gap after it has yet to report, whatever id a client returns with', async () => {
  expect(idsIn(await toldOfBoth('nonsense'))).toEqual([
    ['nonsense', 'begin'],
    ['e9.0.2.0', 'gap'],
    ['e9.0.2.0-p50.3', 'gap'],
  ]);
  expect(idsIn(await toldOfBoth('data: not ours'))[0]).toEqual(['unknown', 'begin']);
  // A client that had only events: for the posts it is sent a gap, after the events.
  expect(idsIn(await toldOfBoth('e5.0.0.0'))).toEqual([
    ['e5.0.0.0', 'begin'],
    ['e6.1.2.0', 'activity'],
    ['e7.1.2.0', 'activity'],
    ['e7.1.2.0-p50.3', 'gap'],
  ]);
  expect(idsIn(await toldOfBoth('p3.1'))).toEqual([
    ['p3.1', 'begin'],
    ['e9.0.2.0-p3.1', 'gap'],
    ['e9.0.2.0-p50.3', 'post'],
  ]);
  // A client that had both is sent no gap, and its id keeps each position until there is more.
  expect(idsIn(await toldOfBoth('e5.0.0.0-p3.1'))).toEqual([
    ['e5.0.0.0-p3.1', 'begin'],
    ['e6.1.2.0-p3.1', 'activity'],
    ['e7.1.2.0-p3.1', 'activity'],
    ['e7.1.2.0-p50.3', 'post'],
  ]);
});

test('a client that is ended before its gap was sent still has the id that it came with', async () => {
  const { asked, held, errors, clients, comesBack, listen } = hubOver();
  const before = await listen('192.0.2.1', 5);
  await awaited(() => expect(asked).toContain('5'));
  const body = await comesBack('192.0.2.1', 'nonsense');
  let text = '';
  body.on('data', (chunk) => {
    text += chunk;
  });
  clients.endAll('this process ends: connect again');
  await awaited(() => expect(text).toContain('event: end'));
  expect(text).not.toContain('event: gap');
  expect(idsIn(text)).toEqual([['nonsense', 'begin']]);
  for (const answer of held.splice(0)) answer();
  expect(errors).toEqual([]);
  for (const one of [body, before]) one.destroy();
});
