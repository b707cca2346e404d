import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { madeSums } from '../../clickhouse/queries/history/protocol.ts';
import { type StepParams, stepParams, UNSEEN_CHANGES } from '../../clickhouse/queries/history/spans.ts';
import { createRandom } from '../../devnet/program/state/random.ts';
import { freshDatabase } from '../support/database.ts';

const SEED = process.env.SEED ?? 'changes-1';
const ROUNDS = 6;
/** Few slots, so that intervals often begin or end in the same one. */
const SLOTS = 60;
const NO_END = 2n ** 64n - 1n;

let store: Store;
beforeAll(async () => {
  store = await freshDatabase();
});
afterAll(() => store.close());

interface Span {
  after: bigint;
  to: bigint;
}

interface Past {
  begins: bigint[];
  holes: Span[];
  changes: (Span & { address: string })[];
  streamed: { address: string; slot: bigint }[];
  carried: { address: string; slot: bigint; carried: 0 | 1 }[];
  brought: { address: string; to: bigint; slot: bigint }[];
}

/** A random past. About some addresses little is known, about some only that they changed. */
function randomPast(seed: string): Past {
  const random = createRandom(seed);
  const many = <T>(count: number, one: () => T) => Array.from({ length: count }, one);
  const slot = () => BigInt(random.int(0, SLOTS));
  const span = (most: number): Span => {
    const after = slot();
    return { after, to: after + BigInt(random.int(1, most)) };
  };
  const address = () => `account ${random.int(1, 9)}`;
  const known = () => `account ${random.int(1, 6)}`;
  const chains = many(random.int(0, 6), () => span(SLOTS));
  const changes = many(80, () => ({ address: address(), ...span(random.chance(0.3) ? 2 : SLOTS) }));
  return {
    begins: many(8, slot).sort((a, b) => Number(a - b)),
    holes: [
      ...chains,
      // Equal changes, some within others, some adjacent, and some that begin or end with others.
      ...chains.slice(0, 2),
      ...chains.map(({ after, to }) => ({ after: after + (to - after) / 3n, to: to - (to - after) / 3n })),
      ...chains.map(({ to }) => ({ after: to, to: to + BigInt(random.int(1, 5)) })),
      ...chains.map(({ after, to }) => ({ after, to: to + 1n })),
      ...many(random.int(0, 6), () => span(4)),
      ...(random.chance(0.5) ? [{ after: 0n, to: slot() + 1n }] : []),
      ...(random.chance(0.5) ? [{ after: slot(), to: NO_END }] : []),
    ],
    changes: [...changes, ...changes.slice(0, 9)],
    streamed: many(30, () => ({ address: known(), slot: slot() })),
    carried: many(20, () => ({ address: known(), slot: slot(), carried: random.chance(0.6) ? 0 : 1 })),
    brought: changes
      .filter(() => random.chance(0.4))
      .flatMap(({ address, to }) => many(random.int(1, 3), () => ({ address, to, slot: slot() }))),
  };
}

/** Compares each change with everything else, one after the other. */
function expectedOf({ begins, holes, changes, streamed, carried, brought }: Past): string[] {
  const each = new Map(changes.map((change) => [`${change.address} ${change.after} ${change.to}`, change]));
  const told = [...each.values()].flatMap(({ address, after, to }) => {
    const own = <T extends { address: string }>(rows: T[]) => rows.filter((row) => row.address === address);
    const explained = [
      ...holes.filter((hole) => hole.after >= after && hole.to <= to).map((hole) => hole.after + 1n),
      ...own(streamed).flatMap(({ slot }) => (slot > after && slot <= to ? [slot] : [])),
      ...own(carried).flatMap(({ slot, carried: is }) =>
        is === 0 && slot >= after && slot < to ? [slot + 1n] : [],
      ),
    ];
    const safe = to === after + 2n ? after + 1n : explained.reduce((a, b) => (a > b ? a : b), after + 1n);
    const step = begins.findIndex((begin) => begin > safe) + 1;
    const slots = new Set(own(brought).flatMap((row) => (row.to === to ? [row.slot] : [])));
    const sorted = [...slots].sort((a, b) => Number(a - b));
    return step === 0 ? [] : [JSON.stringify([address, `${to}`, `${safe}`, step, sorted.map(String)])];
  });
  return told.sort();
}

const paramsOf = (begins: readonly bigint[]): StepParams => {
  const hours = begins.map((slot, hour) => ({ hour, slot: String(slot) }));
  return stepParams([...begins.keys()], { hours, holes: [] }) as StepParams;
};

const TABLES = ['stream_holes', 'unseen_changes', 'first_streamed', 'carried_accounts', 'brought_changes'];

async function write({ holes, changes, streamed, carried, brought }: Past): Promise<void> {
  for (const table of TABLES) await store.command(`TRUNCATE TABLE ${table}`);
  const span = ({ after, to, ...row }: Span) => ({ ...row, after_slot: `${after}`, to_slot: `${to}` });
  const at = <T extends { slot: bigint }>(row: T) => ({ ...row, slot: `${row.slot}` });
  await store.insert('stream_holes', holes.map(span));
  await store.insert('unseen_changes', changes.map(span));
  await store.insert(
    'first_streamed',
    streamed.map((row, hour) => ({ ...at(row), hour, before: '0' })),
  );
  await store.insert('carried_accounts', carried.map(at));
  await store.insert(
    'brought_changes',
    brought.map(({ to, ...row }) => ({ ...at(row), to_slot: `${to}` })),
  );
}

test('the query for unseen changes agrees with a comparison one by one, however holes overlap', async () => {
  for (let round = 1; round <= ROUNDS; round += 1) {
    const past = randomPast(`${SEED} ${round}`);
    await write(past);
    const rows = await store.query<Record<'address' | 'to_slot' | 'safe' | 'step' | 'brought', unknown>>(
      `SELECT address, to_slot, safe, step, brought FROM (${UNSEEN_CHANGES})`,
      paramsOf(past.begins),
    );
    const told = rows.map((row) =>
      JSON.stringify([row.address, row.to_slot, row.safe, row.step, row.brought]),
    );
    expect(told.sort(), `seed ${SEED}, round ${round}`).toEqual(expectedOf(past));
  }
});

test('the query for unseen changes stays within 200 MB with 20,000 changes and 2,000 holes', async () => {
  for (const table of TABLES) await store.command(`TRUNCATE TABLE ${table}`);
  await store.command('INSERT INTO stream_holes SELECT number * 30 + 2, number * 30 FROM numbers(2000)');
  await store.command(
    `INSERT INTO unseen_changes (address, after_slot, to_slot)
     SELECT concat('account ', toString(number % 1000)), number * 2, number * 2 + 400 FROM numbers(20000)`,
  );
  const rows = await store.query(
    `SELECT count() AS changes FROM (${UNSEEN_CHANGES}) SETTINGS max_memory_usage = 200000000`,
    paramsOf([10n, 1_000_000n]),
  );
  expect(rows).toEqual([{ changes: '20000' }]);
});

test.each([
  [
    'changes',
    `INSERT INTO unseen_changes (address, after_slot, to_slot)
     SELECT concat('account ', toString(number % 100)), intDiv(number, 100) * 16, intDiv(number, 100) * 16 + 4 FROM numbers(100000)`,
  ],
  [
    'losses',
    `INSERT INTO carried_accounts (address, slot, carried)
     SELECT concat('account ', toString(number % 100)), intDiv(number, 100) * 8, intDiv(number, 100) % 2 FROM numbers(200000)`,
  ],
])(
  'history sums of accounts written every hour stay within 250 MB, however many %s there are',
  async (_, rows) => {
    for (const table of [...TABLES, 'policies', 'account_hours'])
      await store.command(`TRUNCATE TABLE ${table}`);
    await store.command(
      `INSERT INTO policies (address, exists, quote_mint, bankroll, created_at)
     SELECT concat('account ', toString(number)), 1, 'quote', concat('bankroll ', toString(number)), 0 FROM numbers(100)`,
    );
    await store.command(
      `INSERT INTO account_hours (address, hour, version, block_time, exists, held_in)
     SELECT concat('account ', toString(number % 100)), intDiv(number, 100),
       bitShiftLeft(toUInt128(intDiv(number, 100) * 100 + 50), 64), 1, 1, 'policies' FROM numbers(16000)`,
    );
    await store.command(rows);
    const query: Store['query'] = (sql, params) =>
      store.query(`${sql} SETTINGS max_memory_usage = 250000000`, params);
    const sums = await madeSums(
      { ...store, query },
      paramsOf(Array.from({ length: 160 }, (_, at) => BigInt(at * 100))),
    );
    expect(sums.at(-1)).toMatchObject({ step: 160, policies: '0' });
  },
);
