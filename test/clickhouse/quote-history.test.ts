import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCover } from '../../api/history/cover.ts';
import type { Params, Store } from '../../clickhouse/client.ts';
import { unfoldSums } from '../../clickhouse/queries/history/folded-sums.ts';
import { keepSums } from '../../clickhouse/queries/history/keep-sums.ts';
import { madeSums, protocolHistoryRows } from '../../clickhouse/queries/history/protocol.ts';
import type { QuoteSumsAt } from '../../clickhouse/queries/history/quote-sums.ts';
import { type StepParams, stepParams } from '../../clickhouse/queries/history/spans.ts';
import { inputsOfSums, storedSums } from '../../clickhouse/queries/history/stored-sums.ts';
import { streamCover } from '../../clickhouse/queries/history/stream-cover.ts';
import { HOUR_S } from '../../schemas/units.ts';
import { freshDatabase } from '../support/database.ts';
import { insertWritten } from '../support/written.ts';
import { FIRST_HOUR, HOURS, type Past, randomPast, type StateRow } from './support/past.ts';

const SEED = process.env.SEED ?? 'past-1';

let store: Store;
let past: Past;
beforeAll(async () => {
  store = await freshDatabase();
  past = randomPast(SEED);
  for (const [table, rows] of past.inserts) await insertWritten(store, table, rows);
});
afterAll(() => store.close());

type Sums = Record<keyof QuoteSumsAt, string | number | null>;

/** The sums of each policy's accounts at a moment, computed one after the other. */
function sumsAt({ policies, states, cover, unseen, carried }: Past, end: number, step: number): Sums[] {
  const { lost } = createCover(cover, unseen, carried);
  const lastOf = (address: string, fits: (row: StateRow) => boolean = () => true) => {
    const row = states.filter((one) => one.address === address && one.hour < end && fits(one)).at(-1);
    if (row === undefined) return null;
    return { ...row, lost: lost({ address, hour: row.hour, seen: row.slot }, end) !== null };
  };
  type Last = NonNullable<ReturnType<typeof lastOf>>;
  const there = (row: Last | null): row is Last => row?.exists === 1;
  const sum = (rows: readonly Last[], field: keyof StateRow) =>
    rows.reduce((total, row) => total + BigInt(row[field] as string), 0n).toString();
  const oldest = (times: readonly (number | null)[]) =>
    times.length === 0 || times.includes(null) ? null : String(Math.min(...(times as number[])));
  const venueAddresses = [...new Set(states.filter(({ kind }) => kind !== '').map(({ address }) => address))];
  const begun = policies.filter(({ created_at: at }) => at < end * HOUR_S);
  return [...Map.groupBy(begun, ({ quote_mint: quote }) => quote)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([quote_mint, of]) => {
      const own = of
        .map(({ address }) => lastOf(address, ({ held_in }) => held_in === 'policies'))
        .filter(there);
      if (own.length === 0) return [];
      const known = own.filter((row) => !row.lost);
      const bankrolls = of.map(({ bankroll }) => lastOf(bankroll)).filter(there);
      const held = bankrolls.filter((row) => !row.lost);
      const venues = venueAddresses
        .map((address) => lastOf(address))
        .filter((row): row is Last => of.some(({ address }) => address === row?.policy));
      const open = venues.filter((row) => row.exists === 1 && row.revoked === 0);
      const remote = open.filter(({ kind }) => kind === 'Remote');
      const local = open.filter(({ kind }) => kind === 'Local');
      const balances = local.map(({ token_account: address }) => lastOf(address)).filter(there);
      return [
        {
          ...{ step, quote_mint, policies: String(known.length), hwm: sum(known, 'hwm') },
          ...{ fees_claimed: sum(known, 'fees_claimed'), profit_swept: sum(known, 'profit_swept') },
          venue_count: sum(known, 'venue_count'),
          policies_time: oldest(known.map(({ block_time }) => block_time)),
          ...{ bankrolls: String(held.length), bankroll: sum(held, 'amount') },
          bankroll_time: oldest(held.map(({ block_time }) => block_time)),
          venues: String(open.filter((row) => !row.lost).length),
          lost_venues: String(venues.filter((row) => row.lost).length),
          unattested: String(remote.filter(({ remote_asof }) => remote_asof === 0).length),
          attested: sum(remote, 'remote_equity'),
          attested_time: oldest(remote.map(({ remote_asof }) => remote_asof)),
          locals: String(local.length),
          local_balances: String(balances.filter((row) => !row.lost).length),
          ...{
            local: sum(balances, 'amount'),
            local_time: oldest(balances.map(({ block_time }) => block_time)),
          },
        },
      ];
    });
}

const RANGES = [
  { first: 1, each: 1, count: HOURS },
  { first: 5, each: 4, count: 5 },
  { first: HOURS - 1, each: 1, count: 1 },
];

const endsOf = ({ first, each, count }: (typeof RANGES)[number]) =>
  Array.from({ length: count }, (_, at) => FIRST_HOUR + first + at * each);

/** Expected sums at these ends; the last hour has not been reached. */
function expectedAt(ends: readonly number[], of = past): Sums[] {
  const expected = ends
    .filter((end) => end < FIRST_HOUR + HOURS)
    .flatMap((end) => sumsAt(of, end, ends.indexOf(end) + 1));
  expect(expected.length).toBeGreaterThan(0);
  return expected;
}

const numbered = (sums: readonly QuoteSumsAt[], at: number) => sums.map((row) => ({ ...row, step: at + 1 }));

async function sumsOf(from: Store, ends: readonly number[]): Promise<QuoteSumsAt[]> {
  const { steps } = await protocolHistoryRows(from, ends, ends.length);
  return steps.flatMap((folded, at) => numbered(unfoldSums(folded), at));
}

test.each(RANGES)('history sums of a range equal those computed account by account: %o', async (range) => {
  const ends = endsOf(range);
  expect(await sumsOf(store, ends), `seed ${SEED}`).toEqual(expectedAt(ends));
});

test('no query parameter grows with the number of stream holes', async () => {
  const many = await freshDatabase();
  for (const [table, rows] of past.inserts) await insertWritten(many, table, rows);
  // Later than everything that is asked for.
  const later = Array.from({ length: 20_000 }, (_, at) => 10_000_000 + at * 10);
  await many.insert(
    'stream_holes',
    later.map((after) => ({ after_slot: String(after), to_slot: String(after + 5) })),
  );
  const longest: Record<string, number> = {};
  const note = (params: Params) => {
    for (const [name, value] of Object.entries(params))
      longest[name] = Math.max(longest[name] ?? 0, encodeURIComponent(String(value)).length);
  };
  const query: Store['query'] = (sql, params = {}) => {
    note(params);
    return many.query(sql, params);
  };
  const lines: Store['lines'] = (sql, params = {}) => {
    note(params);
    return many.lines(sql, params);
  };
  const [ends = []] = RANGES.map(endsOf);
  expect(await sumsOf({ ...many, query, lines }, ends), `seed ${SEED}`).toEqual(expectedAt(ends));
  // A server takes 131,072 characters of a parameter, encoded.
  expect(Object.entries(longest).filter(([, length]) => length > 10_000)).toEqual([]);
  await many.close();
});

/** A store that notes its statements. */
function listening(to: Store): { store: Store; asked: string[] } {
  const asked: string[] = [];
  const query: Store['query'] = (sql, params) => {
    asked.push(sql);
    return to.query(sql, params);
  };
  const lines: Store['lines'] = (sql, params) => {
    asked.push(sql);
    return to.lines(sql, params);
  };
  return { store: { ...to, query, lines }, asked };
}

describe('where the stream carried every account and brought every change', () => {
  const lacking = ['unseen_changes', 'carried_accounts'];
  let quiet: Store;
  beforeAll(async () => {
    quiet = await freshDatabase();
    for (const [table, rows] of past.inserts)
      if (!lacking.includes(table)) await insertWritten(quiet, table, rows);
  });
  afterAll(() => quiet.close());

  test('history sums are right, and their query reads neither unseen changes nor carried accounts', async () => {
    const { store: heard, asked } = listening(quiet);
    for (const ends of RANGES.map(endsOf))
      expect(await sumsOf(heard, ends), `seed ${SEED}`).toEqual(
        expectedAt(ends, { ...past, unseen: [], carried: [] }),
      );
    const ofStates = asked.filter((sql) => sql.includes('leadInFrame'));
    expect(ofStates).toHaveLength(RANGES.length);
    expect(ofStates.filter((sql) => lacking.some((table) => sql.includes(table)))).toEqual([]);
  });

  test('hours before the first state have no sums, and no query computes any', async () => {
    const { store: heard, asked } = listening(quiet);
    const firstState = Math.min(...past.states.map(({ hour }) => hour));
    const before = Array.from({ length: 24 }, (_, at) => firstState - 23 + at);
    expect(await sumsOf(heard, before)).toEqual([]);
    expect(asked.filter((sql) => sql.includes('leadInFrame'))).toEqual([]);
  });
});

/** No write happens meanwhile. */
const AT_ONCE = async () => {};

describe('stored history sums', () => {
  const [whole = [], ...others] = RANGES.map(endsOf);

  test('are served without reading account states again', async () => {
    expect(await keepSums(store, whole, AT_ONCE)).toBe(HOURS - 1);
    expect(await keepSums(store, whole, AT_ONCE)).toBe(0);
    for (const ends of [whole, ...others]) {
      const { store: heard, asked } = listening(store);
      expect(await sumsOf(heard, ends), `seed ${SEED}`).toEqual(expectedAt(ends));
      expect(asked.filter((sql) => sql.includes('FROM account_hours'))).toEqual([]);
    }
  });

  test('no longer hold where a late row of any input table changes them, and are made again', async () => {
    const early = await freshDatabase();
    const last = whole.at(-1) as number;
    const late = [
      ['policies'],
      ['account_hours'],
      ['unseen_changes', 'first_streamed'],
      ['brought_changes'],
      ['carried_accounts'],
      ['stream_holes'],
    ];
    // Half of the rows of each of these tables come after sums were kept.
    for (const [table, rows] of past.inserts)
      await insertWritten(early, table, late.flat().includes(table) ? rows.slice(0, rows.length / 2) : rows);
    await keepSums(early, whole, AT_ONCE);
    for (const tables of late) {
      for (const [table, rows] of past.inserts)
        if (tables.includes(table)) await insertWritten(early, table, rows.slice(rows.length / 2));
      const params = stepParams(whole, await streamCover(early, whole[0] as number, last)) as StepParams;
      const made = Map.groupBy(await madeSums(early, params), ({ step }) => step);
      for (const [at, kept] of (await storedSums(early, params, JSON.parse)).entries())
        if (kept !== null)
          expect(numbered(kept, at), `${tables}, seed ${SEED}`).toEqual(made.get(at + 1) ?? []);
      await keepSums(early, whole, AT_ONCE);
    }
    expect(await sumsOf(early, whole), `seed ${SEED}`).toEqual(expectedAt(whole));
    await early.close();
  });

  test('are not made before every write that was already counted has finished', async () => {
    const { slot: _, ...row } = past.states[0] as StateRow;
    await insertWritten(store, 'account_hours', [{ ...row, hour: whole[0] as number, version: '1' }]);
    const order: string[] = [];
    let writes = 2;
    const lines: Store['lines'] = (sql, params) => {
      if (sql.includes('leadInFrame')) order.push('made');
      return store.lines(sql, params);
    };
    const query: Store['query'] = async <Row>(sql: string, params?: Params) => {
      const rows = await store.query<Row>(sql, params);
      if (!sql.includes('FROM system.processes')) return rows;
      writes -= 1;
      return writes < 0 ? rows : [{} as Row];
    };
    const settle = async () => void order.push('settled');
    expect(await keepSums({ ...store, query, lines }, whole, settle)).toBeGreaterThan(0);
    expect(order).toEqual(['settled', 'settled', 'settled', 'made']);
  });

  test.each([
    ['two questions where the sums of an hour are short', 1_000, 2],
    ['one question for each two megabytes where they are long', 100_000, 9],
  ])('are read in answers of bounded size: %s', async (_, chars, questions) => {
    const ends = Array.from({ length: 168 }, (__, at) => FIRST_HOUR + at);
    const cover = { hours: [{ hour: FIRST_HOUR + 200, slot: '1' }], holes: [] };
    const params = stepParams(ends, cover) as StepParams;
    const query: Store['query'] = async () => [];
    const made = await inputsOfSums({ query } as unknown as Store, params);
    const answers: number[] = [];
    const lines: Store['lines'] = async (__, { hours = [] } = {}) => {
      const rows = (hours as number[]).map((hour) => [hour, made[hour - FIRST_HOUR], 'x'.repeat(chars)]);
      const text = [['hour', 'made_of', 'sums'], ...rows].map((row) => JSON.stringify(row)).join('\n');
      answers.push(text.length);
      return text;
    };
    const kept = await storedSums({ query, lines } as unknown as Store, params, (sums) => sums.length);
    expect(kept).toEqual(ends.map(() => chars));
    expect(answers).toHaveLength(questions);
    expect(Math.max(...answers)).toBeLessThan(2_500_000);
  });

  test('are made again only for the hours after a late row', async () => {
    const { slot: _, ...row } = past.states[0] as StateRow;
    const late = { ...row, hour: whole[9] as number, version: '1' };
    await insertWritten(store, 'account_hours', [late]);
    const missing = whole.filter((end) => end > late.hour && end < FIRST_HOUR + HOURS);
    expect(await keepSums(store, whole, AT_ONCE)).toBe(missing.length);
  });
});
