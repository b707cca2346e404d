import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { Latest } from '../../../api/latest/latest.ts';
import { createClients } from '../../../api/stream/clients.ts';
import { createRankingFeed } from '../../../api/stream/rankings.ts';
import { awaited } from '../../support/awaited.ts';

/** Memory of one database. */
const latestOf = (held: boolean, read: (made: (view: object) => unknown) => Promise<object>): Latest =>
  ({ stillHolds: () => held, currentStore: () => null, read }) as unknown as Latest;
const latest = latestOf(true, async () => ({ value: {}, cells: [] }));

function feed() {
  const clients = createClients();
  const { subscribe } = createRankingFeed({ clients, latest, make: () => ({}) as never, onError: () => {} });
  const opened: { destroy(): void }[] = [];
  const ask = (address: string, question: string) => {
    const answer = subscribe(address, question, null);
    if (typeof answer !== 'string') opened.push(answer);
    return typeof answer === 'string' ? answer : 'open';
  };
  return { ask, close: () => opened.forEach((one) => void one.destroy()) };
}

test('an address may follow eight filtered rankings, and besides them any unfiltered or already followed one', () => {
  const { ask, close } = feed();
  const own = Array.from({ length: 10 }, (_, n) => ask('192.0.2.1', `sort=newest&search=${n}&limit=50`));
  expect(own).toEqual([...Array(8).fill('open'), ...Array(2).fill('too many of this address')]);
  // A ranking that is followed already costs nothing more, so it is allowed.
  expect(ask('192.0.2.1', 'sort=newest&search=1&limit=50')).toBe('open');
  expect(ask('192.0.2.1', 'sort=profit&order=asc&limit=50')).toBe('open');
  close();
});

test('all addresses share 64 places for filtered rankings, and rankings without a filter stay available', () => {
  const { ask, close } = feed();
  const all = Array.from({ length: 70 }, (_, n) =>
    ask(`10.0.0.${n >> 2}`, `mode=Agent&search=${n}&limit=50`),
  );
  expect(all.filter((one) => one === 'open')).toHaveLength(64);
  expect(all.at(-1)).toBe('busy');
  expect(ask('203.0.113.1', 'sort=marketCap&limit=50')).toBe('open');
  close();
});

test('several followed rankings are made in separate turns of the event loop', async () => {
  const made: string[] = [];
  let turn = 0;
  const read = async () => {
    made.push(`turn ${turn}`);
    return { value: {}, cells: [] };
  };
  const clients = createClients();
  const { subscribe } = createRankingFeed({
    ...{ clients, latest: latestOf(false, read) },
    make: () => ({}) as never,
    onError: () => {},
  });
  const next = () => {
    turn += 1;
    if (made.length < 3) setImmediate(next);
  };
  const opened = [1, 2, 3].map((n) => subscribe('192.0.2.1', `sort=newest&search=${n}&limit=50`, null));
  setImmediate(next);
  await awaited(() => expect(made).toHaveLength(3));
  expect(new Set(made).size).toBe(3);
  for (const one of opened) if (typeof one !== 'string') one.destroy();
});

test('a ranking that cannot be made is reported as an error, and those after it are still sent', async () => {
  const read = async (made: (view: object) => unknown) => ({ value: made({}), cells: [] });
  const errors: unknown[] = [];
  const { subscribe } = createRankingFeed({
    ...{ clients: createClients(), latest: latestOf(false, read) },
    make: (_, question) => {
      if (question.includes('search=bad')) throw new Error('it cannot be made');
      return {} as never;
    },
    onError: (error) => void errors.push((error as Error).message),
  });
  const opened = ['bad', 'good'].map((search) => {
    const body = subscribe('192.0.2.1', `sort=newest&search=${search}&limit=50`, null);
    if (typeof body === 'string') throw new Error(body);
    let text = '';
    body.on('data', (chunk) => {
      text += String(chunk);
    });
    return { body, heard: () => text };
  });
  await awaited(() => expect(opened[1]?.heard()).toContain('event: ranking'));
  expect(errors).toContain('it cannot be made');
  for (const { body } of opened) body.destroy();
});

test('a returning client is not sent the ranking that it has, though nobody followed it meanwhile', async () => {
  let reads = 0;
  const read = async () => {
    reads += 1;
    return { value: {}, cells: [] };
  };
  const { subscribe } = createRankingFeed({
    ...{ clients: createClients(), latest: latestOf(true, read) },
    make: () => ({}) as never,
    onError: () => {},
  });
  const listen = (lastId: string | null) => {
    const body = subscribe('192.0.2.1', 'sort=newest&limit=50', lastId);
    if (typeof body === 'string') throw new Error(body);
    let text = '';
    body.on('data', (chunk) => {
      text += String(chunk);
    });
    return { body, heard: () => text };
  };
  const first = listen(null);
  await awaited(() => expect(first.heard()).toContain('event: ranking'));
  const id = /event: ranking\nid: (r\S+)/.exec(first.heard())?.[1];
  await once(first.body.destroy(), 'close');
  const back = listen(id as string);
  await awaited(() => expect(reads).toBe(2));
  const other = listen(null);
  await awaited(() => expect(other.heard()).toContain('event: ranking'));
  expect(back.heard()).not.toContain('event: ranking');
  for (const { body } of [back, other]) body.destroy();
});

/** A followed ranking that shows a count, in a database that can be away or be replaced. */
function counted() {
  const state = { count: 1, store: {}, isAway: false, holdsAll: false, now: 0 };
  const errors: string[] = [];
  const latest = {
    currentStore: () => state.store,
    stillHolds: ({ cells }: { cells: number[] }) =>
      state.holdsAll || (!state.isAway && cells[0] === state.count),
    read: async (make: (view: object) => unknown) => {
      if (state.isAway) throw new Error('the store has not answered for 10 s');
      return { value: make({}), cells: [state.count] };
    },
  } as unknown as Latest;
  const { subscribe } = createRankingFeed({
    ...{ clients: createClients(), latest, now: () => state.now },
    make: () => ({ count: state.count }) as never,
    onError: (error) => void errors.push((error as Error).message),
  });
  const listen = (lastId: string | null = null) => {
    const body = subscribe('192.0.2.1', 'sort=newest&limit=50', lastId);
    if (typeof body === 'string') throw new Error(body);
    let text = '';
    body.on('data', (chunk) => {
      text += String(chunk);
    });
    const told = () =>
      [...text.matchAll(/event: ranking\nid: r\S+\ndata: {"count":(\d+)}/g)].map(([, n]) => n);
    return { told, begun: () => text !== '', close: () => once(body.destroy(), 'close') };
  };
  return { state, errors, listen };
}

test('a new follower gets the current ranking at once, and the other followers at the next look', async () => {
  const { state, errors, listen } = counted();
  const first = listen();
  await awaited(() => expect(first.told()).toEqual(['1']));
  state.count = 2;
  // By this clock the look for all followers never comes.
  const second = listen();
  await awaited(() => expect(second.told()).not.toEqual([]));
  expect([second.told(), first.told()]).toEqual([['2'], ['1']]);
  // The answer still holds: nothing is made anew for the third.
  const third = listen();
  await awaited(() => expect(third.told()).toEqual(['2']));
  state.now = 1_000;
  await awaited(() => expect(first.told()).toEqual(['1', '2']));
  expect([second.told(), third.told(), errors]).toEqual([['2'], ['2'], []]);
  await Promise.all([first, second, third].map(({ close }) => close()));
});

test('a new follower gets no former ranking, while the store is away or when another database serves', async () => {
  const { state, errors, listen } = counted();
  const first = listen();
  await awaited(() => expect(first.told()).toEqual(['1']));
  state.isAway = true;
  const second = listen();
  await awaited(() => expect(second.begun()).toBe(true));
  expect(second.told()).toEqual([]);
  await awaited(() => expect(errors).toEqual(['the store has not answered for 10 s']));
  // A later follower does not try by itself: it waits like all others, with one failure a look.
  state.now = 1_000;
  await awaited(() => expect(errors).toHaveLength(2));
  expect(second.told()).toEqual([]);
  Object.assign(state, { isAway: false, count: 3, now: 2_000 });
  await awaited(() => expect([first.told(), second.told()]).toEqual([['1', '3'], ['3']]));
  // Memory of another database says nothing about answers from the one before.
  Object.assign(state, { store: {}, count: 4, holdsAll: true });
  const third = listen();
  await awaited(() => expect(third.told()).not.toEqual([]));
  expect(third.told()).toEqual(['4']);
  expect(errors).toHaveLength(2);
  await Promise.all([first, second, third].map(({ close }) => close()));
});

test('followers that leave while a ranking is being sent to them free their places', async () => {
  let [count, time] = [1, 0];
  const counting = {
    ...{ currentStore: () => null, stillHolds: (made: { count: number }) => made.count === count },
    read: async (make: (view: object) => unknown) => ({ value: make({}), count }),
  } as unknown as Latest;
  const clients = createClients();
  const { subscribe } = createRankingFeed({
    ...{ clients, latest: counting, now: () => time },
    make: () => ({ count }) as never,
    onError: () => {},
  });
  const ask = (question: string) => subscribe('192.0.2.1', `sort=newest&${question}&limit=50`, null);
  const followers = Array.from({ length: 40 }, () => {
    const body = ask('search=followed');
    if (typeof body === 'string') throw new Error(body);
    return { body, text: '' };
  });
  const [first, last] = [followers[0], followers.at(-1)] as [(typeof followers)[0], (typeof followers)[0]];
  for (const one of followers)
    one.body.on('data', (chunk) => {
      one.text += chunk;
      if (one === first && one.text.includes('"count":2'))
        for (const { body } of followers) if (body !== last.body) body.destroy();
    });
  const allTold = (text: string) => awaited(() => expect(last.text).toContain(text));
  await allTold('"count":1');
  [count, time] = [2, 1_000];
  await allTold('"count":2');
  last.body.destroy();
  await awaited(() => expect(clients.count()).toBe(0));
  // Its place is free again.
  const others = Array.from({ length: 8 }, (_, n) => ask(`search=${n}`));
  expect(others.filter((one) => typeof one === 'string')).toEqual([]);
  for (const one of others) if (typeof one !== 'string') one.destroy();
});
