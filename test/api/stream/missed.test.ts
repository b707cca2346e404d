import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createClients } from '../../../api/stream/clients.ts';
import { createHub, type HubParts } from '../../../api/stream/hub.ts';
import { awaited } from '../../support/awaited.ts';

/** A hub over stores that hold their answers back, and what they were asked. */
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
  const hub = createHub({ clients: createClients(), activity, posts: null, onError });
  const wanted = { mint: null, kind: null, events: true, posts: false };
  const listen = async (address: string, slot: number) => {
    const body = await hub.subscribe(address, wanted, `e${slot}.0.0.0`);
    if (typeof body === 'string') throw new Error(body);
    return body;
  };
  /** So many events, which have been told to all who listen then. */
  const happen = async (events: number) => {
    const before = happened;
    happens = events;
    await awaited(() => expect(happened).toBe(before + events));
    // Who asks for what is applied by now waits until that has been told.
    (await listen('192.0.2.8', 1)).destroy();
  };
  return { asked, held, errors, listen, happen };
}

test('of what happens while somebody is told what he missed no more is kept than may be told, then a gap', async () => {
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

test('what somebody missed who went away meanwhile is not read', async () => {
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
