import type { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import type { Latest } from '../../../api/latest/latest.ts';
import { createClients } from '../../../api/stream/clients.ts';
import { createHub, type HubParts } from '../../../api/stream/hub.ts';
import { createRankingFeed } from '../../../api/stream/rankings.ts';
import { awaited } from '../../support/awaited.ts';

const CLIENTS = 300;

/** A value that counts how often it is serialised. */
function words(text: string) {
  let times = 0;
  const toJSON = () => {
    times += 1;
    return { text };
  };
  return { data: { toJSON }, times: () => times };
}

/** Watches whether the event loop has a turn while some clients were sent an event and others were not. */
function watchMiddle(streams: readonly Readable[], begins: number) {
  let [seen, looks] = [false, true];
  onTestFinished(() => {
    looks = false;
  });
  const look = () => {
    const told = streams.filter(({ readableLength }) => readableLength > begins).length;
    seen ||= told > 0 && told < streams.length;
    if (looks && told < streams.length) setImmediate(look);
  };
  setImmediate(look);
  return () => seen;
}

/** Has listeners leave as the test ends, however it ends, so that no look for them follows. */
function leaveAtEnd(streams: readonly Readable[]): void {
  onTestFinished(() => {
    for (const body of streams) body.destroy();
  });
}

test('an event is serialised once for all clients, and the event loop runs while it is sent to them', async () => {
  const all = Array.from({ length: 20 }, (_, n) => words(`event ${n}`));
  const tip = { slot: 5n, ordinal: 0, recent: 0, derived: 0, closedGaps: 0, late: 0 };
  let isNews = false;
  const activity: HubParts['activity'] = {
    begin: async () => {},
    tip: () => tip,
    missed: async () => ({ events: [], gap: null }),
    news: async () => {
      if (!isNews) return { events: [], gap: null };
      isNews = false;
      const events = all.map(({ data }, n) => ({
        ...{ identity: `e${n}`, position: { ...tip, slot: 6n, ordinal: n + 1 }, mint: 'm', kind: 'k', data },
      }));
      return { events, gap: null };
    },
  };
  const clients = createClients({ mostOfAddress: CLIENTS });
  const hub = createHub({ clients, activity, posts: null, onError: () => {} });
  const streams: Readable[] = [];
  leaveAtEnd(streams);
  for (let n = 0; n < CLIENTS; n += 1) {
    const wanted = { mint: null, kind: null, events: true, posts: false };
    const body = await hub.subscribe('192.0.2.1', wanted, null);
    if (typeof body === 'string') throw new Error(body);
    streams.push(body);
  }
  const seen = watchMiddle(streams, streams[0]?.readableLength ?? 0);
  isNews = true;
  await awaited(() => {
    for (const body of streams) expect(body.readableLength).toBe(streams[0]?.readableLength);
    expect(all.map(({ times }) => times())).toEqual(all.map(() => 1));
  });
  expect(seen()).toBe(true);
  const texts = streams.map((body) => String(body.read()));
  const told = [...(texts[0] ?? '').matchAll(/event: activity\nid: e6\.(\d+)\.0\.0\ndata: (.*)\n\n/g)];
  expect(told.map(([, at, json]) => [at, json])).toEqual(
    all.map((_, n) => [`${n + 1}`, `{"text":"event ${n}"}`]),
  );
  expect(new Set(texts).size).toBe(1);
});

test('a ranking is serialised once for all followers, and the event loop runs while it is sent to them', async () => {
  const ranking = words('first rows');
  const latest = {
    stillHolds: () => true,
    currentStore: () => null,
    read: async () => ({ value: ranking.data, cells: [] }),
  } as unknown as Latest;
  const clients = createClients({ mostOfAddress: CLIENTS });
  const onError = () => {};
  const { subscribe } = createRankingFeed({ clients, latest, make: () => ({}) as never, onError });
  const streams = Array.from({ length: CLIENTS }, () => {
    const body = subscribe('192.0.2.1', 'sort=newest&limit=50', null);
    if (typeof body === 'string') throw new Error(body);
    return body;
  });
  leaveAtEnd(streams);
  const seen = watchMiddle(streams, streams[0]?.readableLength ?? 0);
  await awaited(() => {
    for (const body of streams) expect(body.readableLength).toBeGreaterThan(40);
  });
  expect([ranking.times(), seen()]).toEqual([1, true]);
  const texts = streams.map((body) => String(body.read()));
  expect(texts[0]).toMatch(/\nevent: ranking\nid: r[\w-]{27}\ndata: {"text":"first rows"}\n\n$/);
  expect(new Set(texts).size).toBe(1);
});
