import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCover } from '../../../api/history/cover.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { unseenChanges } from '../../../clickhouse/queries/history/closing-states.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { chunks } from '../../../runtime/chunks.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { account, batchOf, key, logOf, PROGRAM, rawKey } from './support/records.ts';

const TOKEN = decodeKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA') as Uint8Array;
const FIRST_HOUR = 497_300;
/** A slot takes six minutes: ten of them are an hour. */
const SLOT_S = 360;
const HOUR_SLOTS = 10;
const HOURS = 5;
const timeAt = (slot: number) => FIRST_HOUR * 3_600 + slot * SLOT_S;

interface State {
  slot: number;
  amount: number;
}

/** States that the stream brings; between two of them nothing was written. */
const HISTORIES: State[][] = [
  [
    { slot: 1, amount: 7 },
    { slot: 12, amount: 8 },
  ],
  // Amounts return: a reading is neither the state before it in the log, nor only the last one.
  [
    { slot: 1, amount: 7 },
    { slot: 4, amount: 8 },
    { slot: 15, amount: 7 },
    { slot: 16, amount: 8 },
  ],
  [
    { slot: 1, amount: 7 },
    { slot: 12, amount: 8 },
    { slot: 23, amount: 9 },
    { slot: 25, amount: 8 },
  ],
];
const READ_AT = [[18], [29], [35], [29, 35], [18, 39], [45]];

const bytesOf = (amount: number): Uint8Array => {
  const data = Buffer.alloc(165);
  data.set(rawKey('mint'), 0);
  data.writeBigUInt64LE(BigInt(amount), 64);
  data[108] = 1;
  return data;
};
const recordOf = (name: string, { slot, amount }: State, source: AccountRecord['source']): AccountRecord =>
  account(name, TOKEN, bytesOf(amount), {
    ...{ source, slot: BigInt(slot), blockTime: timeAt(slot), expected: 'token_account' },
    ...(source === 'rpc' ? { writeVersion: (1n << 64n) - 1n, signature: null } : {}),
  });
const lastBefore = (states: readonly State[], slot: number): State | undefined =>
  states.findLast((state) => state.slot < slot);

/** An account with its log: its readings are anywhere among the stream's states, in their own order. */
interface Case {
  name: string;
  states: State[];
  log: LogRecord[];
}

function casesOf(states: State[], readAt: readonly number[]): Case[] {
  const places = (least: number, left: number): number[][] =>
    left === 0
      ? [[]]
      : Array.from({ length: states.length + 1 - least }, (_, at) => least + at).flatMap((place) =>
          places(place, left - 1).map((rest) => [place, ...rest]),
        );
  // No reading before the first state: it would have nothing to be compared with.
  return places(1, readAt.length).map((at) => {
    const name = JSON.stringify([states, readAt, at]);
    const log: LogRecord[] = [];
    for (let place = 0; place <= states.length; place += 1) {
      for (const [which, slot] of readAt.entries())
        if (at[which] === place)
          log.push(recordOf(name, { slot, amount: (lastBefore(states, slot + 1) as State).amount }, 'rpc'));
      const state = states[place];
      if (state !== undefined) log.push(recordOf(name, state, 'stream'));
    }
    return { name, states, log };
  });
}

const CASES = HISTORIES.flatMap((states) => READ_AT.flatMap((readAt) => casesOf(states, readAt)));
const MARKERS: LogRecord[] = Array.from({ length: HOURS * HOUR_SLOTS }, (_, at) => at + 1).map((slot) => ({
  ...{ kind: 'marker', slot: BigInt(slot), parent: BigInt(slot - 1), blockTime: timeAt(slot) },
}));

const stores: Store[] = [];
afterAll(async () => {
  for (const store of stores) await store.close();
});

/** @param cut records in a batch; each batch is applied `times` times */
async function written(cut: number, times: number): Promise<Store> {
  const store = await embeddedDatabase('several');
  stores.push(store);
  const most = Math.max(...CASES.map(({ log }) => log.length));
  // The accounts' logs side by side: no record comes earlier than it was written.
  const turns = Array.from({ length: most }, (_, at) => CASES.flatMap(({ log }) => log[at] ?? []));
  const entries = logOf([...turns.flat(), ...MARKERS]);
  for (let at = 0; at < entries.length; at += cut)
    for (let time = 0; time < times; time += 1)
      // Each batch is applied by a new process, as after a takeover.
      await createMaterialiser({ store, programId: PROGRAM })(
        batchOf('accounts', entries.slice(at, at + cut)),
      );
  return store;
}

interface Row {
  address: string;
  hour: number;
  seen: string;
  amount: string;
}

/** The served amounts of each account at the ends of hours; null: not known. */
async function toldBy(store: Store): Promise<Map<string, (number | null)[]>> {
  const rows = await store.query<Row>(
    `SELECT address, hour, toString(bitShiftRight(version, 64)) AS seen, toString(amount) AS amount
     FROM account_hours FINAL ORDER BY address, hour`,
  );
  const hours = Array.from({ length: HOURS + 1 }, (_, at) => ({
    ...{ hour: FIRST_HOUR + at, slot: String(Math.max(1, at * HOUR_SLOTS)) },
  }));
  const byAddress = Map.groupBy(rows, ({ address }) => address);
  const told = new Map<string, (number | null)[]>();
  // Unseen changes are read for the three accounts of a policy at a time.
  for (const some of chunks(CASES, 3)) {
    const [policy = '', bankroll = '', pool = ''] = some.map(({ name }) => key(name));
    const unseen = await unseenChanges(store, { policy, bankroll, pool });
    const { lost } = createCover({ hours, holes: [] }, unseen, []);
    for (const { name } of some) {
      const at = Array.from({ length: HOURS }, (_, hour) => {
        const end = FIRST_HOUR + hour + 1;
        const row = byAddress.get(key(name))?.findLast((one) => one.hour < end);
        return row === undefined || lost(row, end) !== null ? null : Number(row.amount);
      });
      told.set(name, at);
    }
  }
  return told;
}

const truthOf = ({ states }: Case): number[] =>
  Array.from({ length: HOURS }, (_, at) => (lastBefore(states, (at + 1) * HOUR_SLOTS) as State).amount);

let whole: Store;
beforeAll(async () => {
  whole = await written(100_000, 1);
});

test('hours are known once the stream brings states that readings before them in the log had seen', async () => {
  const told = await toldBy(whole);
  for (const one of CASES) expect(told.get(one.name), one.name).toEqual(truthOf(one));
  const rows = await whole.query('SELECT * FROM brought_changes FINAL');
  expect(rows.length, 'states that were read before they came').toBeGreaterThan(10);
});

test.each([
  ['in batches', 150, 1],
  ['in batches that are each applied twice', 400, 2],
])('the same rows are stored however the log is cut, %s', async (_, cut, times) => {
  const store = await written(cut, times);
  for (const table of ['account_hours', 'unseen_changes', 'brought_changes']) {
    const all = (of: Store) => of.query(`SELECT * FROM ${table} FINAL ORDER BY ALL`);
    expect(await all(store), table).toEqual(await all(whole));
  }
});

test('a reading of a state that the stream never brought stays an unseen change', async () => {
  const store = await embeddedDatabase('several');
  stores.push(store);
  const [before, brought] = [
    { slot: 1, amount: 7 },
    { slot: 12, amount: 8 },
  ];
  const log = [
    recordOf('lost', before, 'stream'),
    recordOf('lost', { slot: 35, amount: 9 }, 'rpc'),
    recordOf('lost', brought, 'stream'),
  ];
  await createMaterialiser({ store, programId: PROGRAM })(batchOf('accounts', logOf([...log, ...MARKERS])));
  expect(await store.query('SELECT * FROM brought_changes FINAL')).toEqual([]);
  const accounts = { policy: key('lost'), bankroll: 'none', pool: 'none' };
  expect(await unseenChanges(store, accounts)).toMatchObject([
    { after_slot: '1', to_slot: '35', streamed: ['12'], brought: [] },
  ]);
});
