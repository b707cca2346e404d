import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { fees } from '../../../api/coin/fees.ts';
import type { Coin } from '../../../api/coin/find.ts';
import { claimsOfDay } from '../../../api/figures/day-windows.ts';
import { createCells } from '../../../api/latest/cells/cells.ts';
import { withText } from '../../../api/latest/cells/texts.ts';
import { createHandOver } from '../../../api/latest/feed.ts';
import { type IndexState, stateOf } from '../../../api/latest/index-state.ts';
import { createMemory, type Memory } from '../../../api/latest/memory.ts';
import { createAnswerParts } from '../../../api/latest/memos/answer-parts.ts';
import { createRowParts } from '../../../api/latest/memos/row-parts.ts';
import { createTimeSlices } from '../../../api/latest/time-slices.ts';
import { openView, type View } from '../../../api/latest/view.ts';
import { indexer } from '../../../api/status/indexer.ts';
import type { Params, Store } from '../../../clickhouse/client.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { appliedRow, gapRow, key, signature, TIME } from '../support/rows.ts';

let store: Store;
let asked: string[] = [];
/** Called after each query for a policy's sums. */
let behindSums: () => Promise<void> = async () => {};
let memory: Memory;

beforeAll(async () => {
  const real = await embeddedDatabase('several');
  store = {
    ...real,
    query: async (sql, params) => {
      asked.push(sql);
      const rows = await real.query<never>(sql, params);
      if (sql.includes('FROM policy_totals')) await behindSums();
      return rows;
    },
  };
  await store.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
});
afterAll(() => store.close());
beforeEach(async () => {
  behindSums = async () => {};
  memory = createMemory({
    ...{ store, feed: createHandOver(), clock: Date.now, maxBytes: 1_000_000 },
    monotonic: () => performance.now(),
  });
  await memory.turn();
  asked = [];
});

const gap = (fromSlot: string, change: object = {}) => gapRow('999', { from_slot: fromSlot, ...change });

/** Reads the index's state in the same answer as a sum. */
const readSums = async <T>(what: (view: View) => T): Promise<T> => {
  const { value } = await memory.read((view) => {
    view.get('totals', key('coin'));
    return what(view);
  });
  return value;
};
const historyReason = (view: View) => view.state().historyReason;
/** A sum over all of a policy's events, as the API serves it. */
const feesOfCoin = (view: View) => {
  const policy = { address: key('p'), fees_claimed: '0', block_time: null };
  return fees({ mint: key('coin'), policy, view } as unknown as Coin).quoteLeg.lifetimeFromEvents;
};

/** What was read, and in how many reads, where `happens` runs after the first `times` reads. */
async function settledAfter(times: number, happens: () => Promise<void>) {
  const what = (view: View) => ({ reason: historyReason(view), sum: feesOfCoin(view) });
  // What else the answer is made of is in memory already, so that the sums are read once for each reading of it.
  await memory.read((view) => [claimsOfDay(view, key('coin')), view.get('claims', key('coin'))]);
  const { reads, told } = await toldAfter(times, happens, what);
  return { reads, ...told };
}

async function toldAfter<T>(times: number, happens: () => Promise<void>, what: (view: View) => T) {
  let reads = 0;
  behindSums = async () => {
    reads += 1;
    if (reads <= times) await happens();
  };
  return { told: await readSums(what), reads };
}

test('while nothing changes, the state of the index is read once and stays in memory', async () => {
  expect(await readSums(historyReason)).toBeNull();
  const first = asked.length;
  expect(await readSums(historyReason)).toBeNull();
  expect(asked.length).toBe(first);
});

test('a gap that opens while sums are read has them read again, and they are absent with that gap as the reason', async () => {
  const { reads, reason, sum } = await settledAfter(1, () => store.insert('gaps', [gap('10')]));
  expect(reads).toBe(2);
  expect(reason).toContain('slots 10 to 999');
  expect(sum).toMatchObject({ value: null, absent: true, reason });
});

test('a gap that closes while sums are read has them read again, and with nothing missing they are served', async () => {
  const closing = () => store.insert('gaps', [gap('10', { log_offset: '2', closed: 1 })]);
  expect(await settledAfter(1, closing)).toMatchObject({ reads: 2, reason: null, sum: { value: '0' } });
});

test('a gap that opens and closes while sums are read has them read again, too', async () => {
  const both = async () => {
    await store.insert('gaps', [gap('20')]);
    await store.insert('gaps', [gap('20', { log_offset: '3', closed: 1 })]);
  };
  expect(await settledAfter(1, both)).toMatchObject({ reads: 2, reason: null, sum: { value: '0' } });
});

test('a transaction that becomes incomplete while sums are read has them read again, with the newer state', async () => {
  const row = {
    signature: signature('cut'),
    slot: '5',
    block_time: TIME,
    reason: 'cut',
    policies: [key('p')],
  };
  let reads = 0;
  behindSums = async () => {
    reads += 1;
    if (reads === 1) await store.insert('incomplete_transactions', [row]);
  };
  const policies = await readSums((view) => view.state().incomplete.policies);
  expect({ reads, policies }).toEqual({
    reads: 2,
    policies: [[key('p'), 'any', String(TIME), String(TIME)]],
  });
});

test('if what is missing changes during every read, reading ends after four and sums are absent for that reason', async () => {
  let at = 100;
  const { reads, reason, sum } = await settledAfter(9, () => {
    at += 1;
    return store.insert('gaps', [gap(String(at))]);
  });
  expect(reads).toBe(4);
  expect(reason).toMatch(/is changing at this moment$/);
  expect(sum).toMatchObject({ value: null, absent: true, reason });
});

test('while what is missing keeps changing, the status shows the gaps known before and is not complete', async () => {
  const openOf = ({ gaps, openGaps }: IndexState) => ({ open: openGaps.length, all: gaps.length });
  const { value: known } = await memory.read((view) => openOf(view.state()));
  expect(known.open).toBeGreaterThan(0);
  let at = 400;
  const opens = () => {
    at += 1;
    return store.insert('gaps', [gap(String(at))]);
  };
  const { told } = await toldAfter(9, opens, (view) => ({
    gaps: openOf(view.state()),
    status: indexer(view),
  }));
  const reason = expect.stringMatching(/is changing at this moment$/);
  expect(told.status).toMatchObject({
    history: { complete: false, fromSlot: null, source: 'rpc', reason },
    openGaps: known.open,
    incompleteTransactions: { value: null, absent: true, reason },
  });
  expect(told.gaps).toEqual(known);
});

test('a first read whose missing data keeps changing reports the gaps it saw and serves no sums', async () => {
  let at = 500;
  const restless: Store = {
    ...store,
    query: async <Row>(sql: string, params?: Params) => {
      const rows = await store.query<Row>(sql, params);
      if (!sql.includes('FROM applied')) return rows;
      at += 1;
      await store.insert('gaps', [gap(String(at))]);
      return rows;
    },
  };
  const own = createMemory({
    ...{ store: restless, feed: createHandOver(), clock: Date.now, maxBytes: 1_000_000 },
    monotonic: () => performance.now(),
  });
  const { value } = await own.read((view) => ({ ...indexer(view), kinds: view.single('keeperOfDay') }));
  expect(value).toMatchObject({
    history: { source: 'rpc', reason: expect.stringMatching(/at this moment$/) },
    incompleteTransactions: { absent: true },
    kinds: [],
  });
  expect(value.openGaps).toBeGreaterThan(0);
});

test('once what is missing no longer changes, the next turn reads it, though no batch arrives', async () => {
  let at = 200;
  await settledAfter(9, () => {
    at += 1;
    return store.insert('gaps', [gap(String(at))]);
  });
  behindSums = async () => {};
  await memory.turn();
  expect(await readSums(historyReason)).toMatch(/201 to 999 and of \d+ more gaps are not read yet/);
  // Values that are not read with the turns must fit the missing mark too.
  await expect(memory.read((view) => view.single('days'))).resolves.toMatchObject({ value: [] });
});

test.each([
  [5, '', ''],
  [6, ' and of 1 more gap', ' and 1 more obstacle'],
  [5_000, ' and of 4995 more gaps', ' and 4995 more obstacles'],
])(
  'of %i gaps and of what keeps them open, the reason names five and counts the others',
  async (count, ranges, obstacles) => {
    const { value: state } = await memory.read((view) => view.state());
    const gaps = Array.from({ length: count }, (_, at) => ({
      ...{ from_slot: String(at), to_slot: String(at), to_time: null, partitions: 1, open_partitions: 1 },
      ...{ unread: `t${at}`, first_slot: null, begin: null, behind: 0 },
    }));
    const { incomplete } = state;
    const { historyReason: reason } = stateOf(state.applied, { mark: '', gaps, incomplete }, true);
    const named = [0, 1, 2, 3, 4];
    expect(reason).toBe(
      `history is not complete: the transactions of slots ${named.map((at) => `${at} to ${at}`).join(', ')}${ranges} ` +
        `are not read yet; ${named.map((at) => `transaction t${at} cannot be read`).join('; ')}${obstacles}`,
    );
  },
);

test('incomplete transactions are read again only when one is added, and are never serialised', async () => {
  const row = {
    signature: signature('many'),
    slot: '7',
    block_time: TIME,
    reason: 'cut',
    policies: [key('p')],
  };
  await store.insert('incomplete_transactions', [row]);
  await store.insert('gaps', [gap('300')]);
  const handOver = createHandOver();
  let [reads, prints] = [0, 0];
  const own = createMemory({
    store: {
      ...store,
      query: async <Row>(sql: string, params?: Params) => {
        const rows = await store.query<Row>(sql, params);
        if (!sql.includes('FROM incomplete_by_slot AS i FINAL')) return rows;
        reads += 1;
        const toJSON = () => {
          prints += 1;
          return [];
        };
        for (const { policies } of rows as { policies: object }[]) Object.assign(policies, { toJSON });
        return rows;
      },
    },
    ...{ feed: handOver, clock: Date.now, maxBytes: 1_000_000, monotonic: () => performance.now() },
  });
  const next = async () => {
    handOver.note(new Map([['events', new Set(['coin'])]]));
    await own.turn();
  };
  await own.turn();
  const count = () => own.read((view) => view.state().incomplete.count);
  const made = await count();
  for (let turns = 0; turns < 3; turns += 1) await next();
  expect({ reads, prints }).toEqual({ reads: 1, prints: 0 });
  expect(own.holds(made)).toBe(true);
  // The gap stays open, and its progress is stored.
  await store.insert('gaps', [gap('300', { log_offset: '2', to_slot: '990' })]);
  await next();
  const come = await own.read(
    (view) => view.state().gaps.find(({ from_slot }) => from_slot === '300')?.to_slot,
  );
  expect(come.value).toBe('990');
  const madeLater = await count();
  expect(reads).toBe(1);
  await store.insert('incomplete_transactions', [{ ...row, signature: signature('one more') }]);
  await next();
  expect(own.holds(madeLater)).toBe(false);
  expect((await count()).value).toBe(made.value + 1);
  expect({ reads, prints }).toEqual({ reads: 2, prints: 0 });
});

test('fifty concurrent readers share their queries', async () => {
  await Promise.all(Array.from({ length: 50 }, () => readSums(historyReason)));
  expect(asked.length).toBeLessThan(15);
});

test('a value queried before a change and answered while memory takes that change in is not kept', async () => {
  const handOver = createHandOver();
  let isTaken = false;
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let newest = '1';
  let meanwhile = async () => {};
  const { aside: _, ...alone } = store;
  const slow: Store = {
    ...alone,
    query: async <Row>(sql: string, params?: Params) => {
      if (!sql.includes('FROM kind_spans')) {
        if (isTaken) await meanwhile();
        return store.query<Row>(sql, params);
      }
      const rows = [{ keeper: newest, attestor: newest }];
      asked.resolve();
      await answer.promise;
      return rows as Row[];
    },
  };
  const take = async () => {
    const taken = await handOver.take();
    isTaken = true;
    return taken;
  };
  const own = createMemory({
    ...{ store: slow, feed: { ...handOver, take }, clock: Date.now, maxBytes: 1_000_000 },
    monotonic: () => performance.now(),
  });
  await own.turn();
  const keeper = async () => (await own.read((view) => view.single('lastActions').keeper)).value;
  const before = keeper();
  await asked.promise;
  newest = '2';
  isTaken = false;
  handOver.note(new Map([['events', new Set(['coin'])]]));
  meanwhile = async () => {
    answer.resolve();
    expect(await before).toBe('1');
  };
  await own.turn();
  expect(await keeper()).toBe('2');
});

test('a value that memory has by now takes precedence over the one that a reader loaded for itself', () => {
  const cells = createCells(1_000_000);
  cells.set('days', '', withText({ value: ['newer'], until: Number.POSITIVE_INFINITY }), 0);
  const parts = createAnswerParts(1_000_000);
  const itself = { stamp: 0, until: Number.POSITIVE_INFINITY, usedAt: 0 };
  const states = { itself, state: null as never, ranked: null as never };
  const { view } = openView(
    { cells, parts, rowParts: createRowParts(1_000_000), ...states, clock: 0 },
    0,
    new Map([
      ['days', new Map([['', { value: ['older'], stamp: 0, until: Number.POSITIVE_INFINITY, usedAt: 0 }]])],
    ]),
    createTimeSlices(() => 0),
  );
  expect(view.single('days')).toEqual(['newer']);
});
