import { ClickHouseError } from '@clickhouse/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { sharedLookup, sharedRead, sharedRows } from '../../clickhouse/shared-reads.ts';

/** Fake timers: a query delays the next only for a moment, and a machine may stand still for longer. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

interface Row {
  key: string;
  value: number;
}

/** A store that notes its queries; the test answers each. */
function watched() {
  const asked: { keys: string[]; answer: PromiseWithResolvers<Row[]> }[] = [];
  const ask = (_: Store, keys: string[] = []): Promise<Row[]> => {
    const answer = Promise.withResolvers<Row[]>();
    asked.push({ keys, answer });
    return answer.promise;
  };
  return { asked, ask, store: {} as Store };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const row = (key: string, value = 0): Row => ({ key, value });

test('calls made while a query is running share the answer of the next one', async () => {
  const { asked, ask, store } = watched();
  const read = sharedRead(ask);
  const first = read(store);
  await turn();
  const others = [read(store), read(store)];
  await turn();
  expect(asked).toHaveLength(1);
  asked[0]?.answer.resolve([row('old')]);
  await expect(first).resolves.toEqual([row('old')]);
  await turn();
  expect(asked).toHaveLength(2);
  asked[1]?.answer.resolve([row('new')]);
  await expect(Promise.all(others)).resolves.toEqual([[row('new')], [row('new')]]);
});

test('queries to different stores do not wait for each other', async () => {
  const { asked, ask, store } = watched();
  const read = sharedRead(ask);
  void read(store);
  void read({} as Store);
  await turn();
  expect(asked).toHaveLength(2);
});

test('keys looked up at the same time make one query, each key once, and each caller gets its own rows', async () => {
  const { asked, ask, store } = watched();
  const look = sharedLookup<Row>('key', ask);
  const one = look(store, ['a', 'b']);
  const two = look(store, ['b', 'c', 'nowhere']);
  await turn();
  expect(asked.map(({ keys }) => keys)).toEqual([['a', 'b', 'c', 'nowhere']]);
  asked[0]?.answer.resolve([row('b', 1), row('a', 2), row('b', 3), row('c', 4)]);
  expect([...(await one)]).toEqual([
    ['a', [row('a', 2)]],
    ['b', [row('b', 1), row('b', 3)]],
  ]);
  expect([...(await two)]).toEqual([
    ['b', [row('b', 1), row('b', 3)]],
    ['c', [row('c', 4)]],
  ]);
});

test('a lookup without keys sends no query', async () => {
  const { asked, ask, store } = watched();
  await expect(sharedRows<Row>('key', ask)(store, [])).resolves.toEqual(new Map());
  expect(asked).toEqual([]);
});

test('lookups that would exceed 2,000 keys in one query wait for the next', async () => {
  const { asked, ask, store } = watched();
  const look = sharedRows<Row>('key', ask);
  const page = (from: number) => Array.from({ length: 1_500 }, (_, at) => `k${from + at}`);
  const pages = [look(store, page(0)), look(store, page(1_500))];
  await turn();
  expect(asked.map(({ keys }) => keys)).toEqual([page(0)]);
  asked[0]?.answer.resolve([row('k7')]);
  await expect(pages[0]).resolves.toEqual(new Map([['k7', row('k7')]]));
  await turn();
  expect(asked.map(({ keys }) => keys)).toEqual([page(0), page(1_500)]);
  asked[1]?.answer.resolve([]);
  await expect(pages[1]).resolves.toEqual(new Map());
});

test('a failed query rejects all callers that shared it, and none after them', async () => {
  const { asked, ask, store } = watched();
  const look = sharedRows<Row>('key', ask);
  const failed = Promise.allSettled([look(store, ['a']), look(store, ['b'])]);
  await turn();
  asked[0]?.answer.reject(new Error('no connection'));
  const reason = new Error('no connection');
  expect(await failed).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ]);
  const later = look(store, ['a']);
  await turn();
  asked[1]?.answer.resolve([row('a')]);
  await expect(later).resolves.toEqual(new Map([['a', row('a')]]));
});

test('when the engine refuses a shared query, its lookups are repeated singly and only the bad one fails', async () => {
  const { asked, ask, store } = watched();
  const look = sharedRows<Row>('key', ask);
  const good = look(store, ['good']);
  const bad = look(store, ['bad']);
  await turn();
  const refusal = new ClickHouseError({ message: 'too much', code: '241', type: 'MEMORY_LIMIT_EXCEEDED' });
  asked[0]?.answer.reject(refusal);
  await turn();
  asked[1]?.answer.resolve([row('good')]);
  await expect(good).resolves.toEqual(new Map([['good', row('good')]]));
  await turn();
  asked[2]?.answer.reject(refusal);
  await expect(bad).rejects.toThrow('too much');
  expect(asked.map(({ keys }) => keys)).toEqual([['good', 'bad'], ['good'], ['bad']]);
});

test('an unanswered query holds up the next for 250 ms at most, and gets its own answer in the end', async () => {
  const { asked, ask, store } = watched();
  const read = sharedRead(ask);
  const hung = read(store);
  await turn();
  const others = [read(store), read(store)];
  await turn();
  expect(asked).toHaveLength(1);
  vi.advanceTimersByTime(250);
  expect(asked).toHaveLength(2);
  asked[1]?.answer.resolve([row('others')]);
  await expect(Promise.all(others)).resolves.toEqual([[row('others')], [row('others')]]);
  const later = read(store);
  await turn();
  asked[2]?.answer.resolve([row('later')]);
  await expect(later).resolves.toEqual([row('later')]);
  asked[0]?.answer.resolve([row('hung')]);
  await expect(hung).resolves.toEqual([row('hung')]);
});
