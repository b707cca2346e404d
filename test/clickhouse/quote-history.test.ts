import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCover } from '../../api/history/cover.ts';
import type { Store } from '../../clickhouse/client.ts';
import { protocolHistoryRows, type QuoteSumsAt } from '../../clickhouse/queries/history/protocol.ts';
import { freshDatabase } from '../support/database.ts';
import { FIRST_HOUR, HOURS, type Past, randomPast, type StateRow } from './support/past.ts';

const SEED = process.env.SEED ?? 'past-1';

let store: Store;
let past: Past;
beforeAll(async () => {
  store = await freshDatabase();
  past = randomPast(SEED);
  for (const [table, rows] of past.inserts) await store.insert(table, rows);
});
afterAll(() => store.close());

type Sums = Record<keyof QuoteSumsAt, string | number | null>;

/** What the states of each policy's accounts sum up to at a moment, told one after the other. */
function sumsAt(end: number, step: number): Sums[] {
  const { policies, states, cover, unseen } = past;
  const { lost } = createCover(cover, unseen);
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
  return [...Map.groupBy(policies, ({ quote_mint: quote }) => quote)]
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

test.each([
  { first: 1, each: 1, count: HOURS },
  { first: 5, each: 4, count: 5 },
  { first: HOURS - 1, each: 1, count: 1 },
])('the sums of a block are those of its accounts, one by one: %o', async ({ first, each, count }) => {
  const ends = Array.from({ length: count }, (_, at) => FIRST_HOUR + first + at * each);
  const { sums } = await protocolHistoryRows(store, ends, ends.length);
  // The last hour was not come to.
  const expected = ends
    .filter((end) => end < FIRST_HOUR + HOURS)
    .flatMap((end) => sumsAt(end, (end - FIRST_HOUR - first) / each + 1));
  expect(expected.length).toBeGreaterThan(0);
  expect(sums, `seed ${SEED}`).toEqual(expected);
});
