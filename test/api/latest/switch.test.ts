import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSharedAnswers } from '../../../api/http/answers/shared-answers.ts';
import { createLatest, type LatestTimes } from '../../../api/latest/latest.ts';
import { type ServingStore, type ServingTimes, serveFrom } from '../../../api/latest/serving-store.ts';
import type { View } from '../../../api/latest/view.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { declareProgram, isOfProgram } from '../../../clickhouse/queries/progress/indexed-program.ts';
import { switchServing } from '../../../clickhouse/serving/serving.ts';
import { awaited, PATIENCE_MS } from '../../support/awaited.ts';
import { type Databases, openDatabases } from '../../support/databases.ts';
import { type Heard, listenTo } from '../stream/support/listen.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { appliedRow, key, originRow, policyRow } from '../support/rows.ts';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

let databases: Databases;
let former: Store;
let next: Store;
let stop: AbortController;
let ends: (() => Promise<unknown>)[];

beforeEach(async () => {
  databases = await openDatabases();
  former = databases.home;
  next = await databases.openMigrated(`${former.database}_r1`);
  await fill(former, 'old', '100');
  await fill(next, 'new', '200');
  stop = new AbortController();
  ends = [];
});
afterEach(async () => {
  stop.abort();
  for (const end of ends) await end();
  await databases.close();
});

async function fill(store: Store, name: string, hwm: string): Promise<void> {
  await store.insert('origins', [originRow(1, name)]);
  await store.insert('policies', [policyRow('coin', 'usd', { hwm })]);
  await store.insert('applied', [appliedRow('accounts', 0), appliedRow('transactions', 0)]);
}

interface Opened {
  serving: ServingStore;
  api: TestApi;
}

/** The API as its process runs it. @param wrap wraps each database that it opens */
async function open(
  wrap: (store: Store) => Store = (store) => store,
  times: Partial<ServingTimes> = {},
  memory: Partial<LatestTimes> = {},
) {
  const kept = (store: Store): Store => wrap({ ...store, close: async () => {} });
  const serving = serveFrom({
    openHome: async () => kept(former),
    openDatabase: async (name) => kept(await databases.open(name)),
    isOfProgram: async () => true,
    signal: stop.signal,
    onError: (error) => {
      throw error;
    },
    times: { everyMs: 5, ...times },
  });
  await serving.firstAttempt;
  const { currentStore } = serving;
  const api = await startApi(former, {
    memory: { currentStore, times: { everyMs: 5, ...memory }, signal: stop.signal },
  });
  ends.push(api.close, serving.close);
  return { serving, api } satisfies Opened;
}

interface CoinAnswer {
  origin: { name: string };
  hwm: { value: string };
}
const ask = async (api: TestApi): Promise<string> => {
  const { body, status } = await api.get<CoinAnswer>(`/coins/${key('coin')}`);
  expect(status).toBe(200);
  return `${body.origin.name} ${body.hwm.value}`;
};
const turn = () => switchServing(former, { from: former.database, to: next.database }, null);

test('readers get the old answers until the switch and the new ones after it, never a mixture of both', async () => {
  const { api } = await open();
  const seen: string[][] = Array.from({ length: 8 }, () => []);
  const readers = seen.map(async (answers) => {
    while (answers.at(-1) !== 'new 200' && !stop.signal.aborted) answers.push(await ask(api));
    for (let more = 0; more < 5; more += 1) answers.push(await ask(api));
  });
  ends.unshift(() => Promise.allSettled(readers));
  await awaited(() => expect(seen.every((answers) => answers.length > 3)).toBe(true));
  expect(new Set(seen.flat())).toEqual(new Set(['old 100']));
  await turn();
  await Promise.all(readers);
  for (const answers of seen) {
    const first = answers.indexOf('new 200');
    expect(new Set(answers.slice(0, first))).toEqual(new Set(['old 100']));
    expect(new Set(answers.slice(first))).toEqual(new Set(['new 200']));
  }
});

test('an answer begun before the switch is completed from the old database', async () => {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  let once = true;
  const { api, serving } = await open((store) => ({
    ...store,
    query: async (sql, params) => {
      if (once && store.database === former.database && sql.includes('FROM origins')) {
        once = false;
        reached.resolve();
        await held.promise;
      }
      return store.query(sql, params);
    },
  }));
  const slow = ask(api);
  await reached.promise;
  await turn();
  await awaited(() => expect(serving.currentStore().database).toBe(next.database));
  expect(await ask(api)).toBe('new 200');
  held.resolve();
  expect(await slow).toBe('old 100');
});

test('an answer begun before a switch back is completed from the replaced database, which is not closed meanwhile', async () => {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const closed = new Set<string>();
  const { api, serving } = await open(
    (store) => {
      let isClosed = false;
      return {
        ...store,
        query: async (sql, params) => {
          if (store.database === next.database && sql.includes('FROM origins')) {
            reached.resolve();
            await held.promise;
          }
          if (isClosed) throw new Error(`${store.database} is closed`);
          return store.query(sql, params);
        },
        close: async () => {
          isClosed = true;
          closed.add(store.database);
        },
      };
    },
    { graceMs: PATIENCE_MS },
  );
  await turn();
  await awaited(() => expect(serving.currentStore().database).toBe(next.database));
  const slow = ask(api);
  await reached.promise;
  await switchServing(former, { from: next.database, to: former.database }, null);
  await awaited(() => expect(serving.currentStore().database).toBe(former.database));
  expect(await ask(api)).toBe('old 100');
  held.resolve();
  expect(await slow).toBe('new 200');
  expect([...closed]).toEqual([]);
  stop.abort();
  await serving.close();
  expect(closed).toContain(next.database);
});

test('an answer kept for the old database is not served for the new one', async () => {
  const { api, serving } = await open();
  const path = `/coins/${key('coin')}`;
  const { headers } = await api.get(path);
  await turn();
  await awaited(() => expect(serving.currentStore().database).toBe(next.database));
  const again = await api.get<CoinAnswer>(path, { 'if-none-match': headers.get('etag') ?? '' });
  expect([again.status, again.body.origin.name]).toEqual([200, 'new']);
});

/** Shared answers from whichever database serves. */
function shareAnswers(serving: () => Store) {
  const latest = createLatest({
    ...{ currentStore: serving, clock: Date.now, signal: stop.signal },
    // Never idle: a memory that was not asked for a while serves nothing kept, and answers may be slow here.
    times: { lostMs: PATIENCE_MS, idleMs: PATIENCE_MS },
  });
  const shared = createSharedAnswers(latest, 1_000_000);
  const keyOf = (path: string) => `${serving().database} ${path}`;
  let of: WeakRef<object>;
  const make = (view: View) => {
    const origins = view.single('origins');
    of = new WeakRef(origins);
    return { status: 200, body: origins.map(({ name }) => name) };
  };
  const textOf = ({ bytes }: { bytes: Buffer }) => JSON.stringify(JSON.parse(bytes.toString()));
  return {
    of: () => of,
    kept: (path: string) => {
      const answer = shared.kept(keyOf(path));
      return answer && textOf(answer);
    },
    ask: async (path: string) => {
      const key = keyOf(path);
      return textOf(shared.ready(key, make) ?? (await shared.wait(key, make, (work) => work(), '192.0.2.1')));
    },
  };
}

test('answers kept for a database are not served when it serves again after another, even before it is read anew', async () => {
  let current = former;
  const { ask, kept } = shareAnswers(() => current);
  expect([await ask('/one'), await ask('/other')]).toEqual(Array(2).fill('["old"]'));
  current = next;
  expect([await ask('/one'), kept('/other')]).toEqual(['["new"]', null]);
  // A database restored from a backup, or filled from the log after the engine was lost.
  await former.insert('origins', [originRow(1, 'restored')]);
  current = former;
  expect([kept('/one'), kept('/other')]).toEqual([null, null]);
  expect([await ask('/one'), kept('/other'), await ask('/other')]).toEqual([
    '["restored"]',
    null,
    '["restored"]',
  ]);
  expect(kept('/other')).toBe('["restored"]');
  current = next;
  expect([kept('/one'), await ask('/other'), kept('/one')]).toEqual([null, '["new"]', null]);
});

test('an answer completed in a discarded memory goes to the client that waits for it and is not kept', async () => {
  const reached = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let once = true;
  const slow: Store = {
    ...former,
    query: async (sql, params) => {
      const rows = await former.query<never>(sql, params);
      if (!once || !sql.includes('FROM origins')) return rows;
      once = false;
      reached.resolve();
      await held.promise;
      return rows;
    },
  };
  let current = slow;
  const { ask, kept } = shareAnswers(() => current);
  const began = ask('/slow');
  await reached.promise;
  current = next;
  expect(await ask('/other')).toBe('["new"]');
  await former.insert('origins', [originRow(1, 'restored')]);
  current = slow;
  expect(await ask('/other')).toBe('["restored"]');
  const waits = ask('/slow');
  held.resolve();
  expect([await began, await waits]).toEqual(['["old"]', '["restored"]']);
  expect([kept('/slow'), await ask('/slow')]).toEqual(Array(2).fill('["restored"]'));
});

test('kept answers hold no reference to a discarded memory', async () => {
  let current = former;
  const { ask, of } = shareAnswers(() => current);
  await ask('/one');
  const ofFormer = of();
  current = next;
  await ask('/other');
  await awaited(() => {
    collect();
    expect(ofFormer.deref()).toBeUndefined();
  });
  expect(of().deref()).toBeDefined();
});

test('a page kept before a replay is made anew when the database from before it serves again', async () => {
  const { api, serving } = await open();
  const path = `/coins/${key('coin')}`;
  const first = await api.get(path);
  const etag = first.headers.get('etag') ?? '';
  expect((await api.request('GET', path, { headers: { 'if-none-match': etag } })).status).toBe(304);
  await turn();
  await awaited(() => expect(serving.currentStore().database).toBe(next.database));
  expect(await ask(api)).toBe('new 200');
  await former.insert('origins', [originRow(1, 'restored')]);
  await switchServing(former, { from: next.database, to: former.database }, null);
  await awaited(() => expect(serving.currentStore().database).toBe(former.database));
  await api.get('/origins');
  const again = await api.get<CoinAnswer>(path, { 'if-none-match': etag });
  expect(again.status).toBe(200);
  expect(again.body.origin.name).toBe('restored');
});

test('followers of a ranking are sent that of the new database after the switch, and so are later followers', async () => {
  // Never idle: the new database's memory is asked all the time.
  const { api } = await open(undefined, {}, { idleMs: PATIENCE_MS });
  const follow = async (order: string) => {
    const listener = await listenTo(`${api.url}/stream/rankings?sort=newest&order=${order}`);
    ends.unshift(async () => listener.close());
    return listener;
  };
  const originIn = (heard: Heard | undefined): string => heard?.data.items[0].origin.name;
  const followed = [await follow('desc'), await follow('asc')];
  for (const { until } of followed) expect(originIn((await until(1))[0])).toBe('old');
  await turn();
  for (const { until } of followed) expect(originIn((await until(2))[1])).toBe('new');
  const later = await follow('desc');
  expect(originIn((await later.until(1))[0])).toBe('new');
});

test('the new database serves only once it has everything that the old one has', async () => {
  await former.insert('applied', [appliedRow('transactions', 1, { log_offset: '50' })]);
  let looks = 0;
  const { api, serving } = await open(
    (store) => ({
      ...store,
      query: async (sql, params) => {
        const rows = await store.query<never>(sql, params);
        if (store.database === next.database && sql.includes('FROM applied')) looks += 1;
        return rows;
      },
    }),
    // So long that it does not serve before it has caught up; the next test has it do so after a short time.
    { catchUpMs: PATIENCE_MS },
  );
  await turn();
  await awaited(() => expect(looks).toBeGreaterThan(3));
  expect(await ask(api)).toBe('old 100');
  await next.insert('applied', [appliedRow('transactions', 1, { log_offset: '50' })]);
  await awaited(() => expect(serving.currentStore().database).toBe(next.database));
});

test('a new database that never catches up serves after a time limit', async () => {
  await former.insert('applied', [appliedRow('transactions', 1, { log_offset: '50' })]);
  const { serving } = await open(undefined, { catchUpMs: 50 });
  await turn();
  await awaited(() => expect(serving.currentStore().database).toBe(next.database));
});

test('a database that no longer serves is closed after its grace time, but home never is', async () => {
  const closed: string[] = [];
  const { serving } = await open(
    (store) => ({ ...store, close: async () => void closed.push(store.database) }),
    { graceMs: 10 },
  );
  await turn();
  await awaited(() => expect(serving.currentStore().database).toBe(next.database));
  await switchServing(former, { from: next.database, to: former.database }, null);
  await awaited(() => expect(closed).toEqual([next.database]));
  expect(serving.currentStore().database).toBe(former.database);
  expect(await serving.currentStore().query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('the memory of a database that no longer serves is released, though home stays open', async () => {
  const reading = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let once = true;
  const { api, serving } = await open((store) => ({
    ...store,
    query: async (sql, params) => {
      if (once && store.database === former.database && sql.includes('FROM origins')) {
        once = false;
        reading.resolve();
        await held.promise;
      }
      return store.query(sql, params);
    },
  }));
  const kept = async () => {
    const { value } = await api.latest.read((view) => new WeakRef(view.single('quotesInUse')));
    return value;
  };
  const ofHome = await kept();
  // An answer that is still being read from the old database, and completes there.
  const slow = ask(api);
  await reading.promise;
  await turn();
  await awaited(() => expect(serving.currentStore().database).toBe(next.database));
  const ofNext = await kept();
  held.resolve();
  expect(await slow).toBe('old 100');
  await awaited(() => {
    collect();
    expect(ofHome.deref()).toBeUndefined();
  });
  expect(ofNext.deref()).toBeDefined();
});

test('after the first attempt there is a store, or asking for it throws "not connected yet"', async () => {
  const reached = Promise.withResolvers<Store>();
  const from = (openHome: () => Promise<Store>) =>
    serveFrom({
      openHome,
      openDatabase: databases.open,
      isOfProgram: async () => true,
      signal: stop.signal,
      onError: () => {},
    });
  const slow = from(() => reached.promise);
  expect(slow.currentStore).toThrow('not connected yet');
  reached.resolve({ ...former, close: async () => {} });
  await slow.firstAttempt;
  expect(slow.currentStore().database).toBe(former.database);
  const away = from(() => Promise.reject(new Error('refused')));
  await away.firstAttempt;
  expect(away.currentStore).toThrow('not connected yet');
  ends.push(slow.close, away.close);
});

test('a database without a declared program is served until it is declared to be of another program', async () => {
  const serving = serveFrom({
    openHome: async () => ({ ...former, close: async () => {} }),
    openDatabase: databases.open,
    isOfProgram: (store) => isOfProgram(store, key('ours')),
    signal: stop.signal,
    onError: () => {},
    times: { everyMs: 5 },
  });
  await serving.firstAttempt;
  expect(serving.currentStore().database).toBe(former.database);
  await declareProgram(former, key('theirs'), null);
  await expect(serving.refused).rejects.toThrow(`is of the program ${key('theirs')}`);
  await serving.close();
});
