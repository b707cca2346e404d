import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import {
  claimsAt,
  claimsOfDay,
  type DayWindow,
  eventsAt,
  eventsOfDay,
  NO_CLAIMS,
  NO_EVENTS,
} from '../../clickhouse/queries/ranking/day-windows.ts';
import { keeperOfDay } from '../../clickhouse/queries/status/events-between.ts';
import type { EventRow } from '../../clickhouse/tables.ts';
import { createRandom } from '../../devnet/program/state/random.ts';
import { DAY_S } from '../../schemas/units.ts';
import { countKinds } from '../api/support/api.ts';
import { eventRow, key, TIME } from '../api/support/rows.ts';
import { freshDatabase } from '../support/database.ts';

const SEED = process.env.SEED ?? 'windows-1';
const NAMES = ['busy', 'quiet', 'crowded', 'silent'];
const MINTS = NAMES.map(key);

let store: Store;
beforeAll(async () => {
  store = await freshDatabase();
  const random = createRandom(SEED);
  const events = NAMES.slice(0, 3).flatMap((name, which) =>
    Array.from({ length: [60, 6, 60][which] as number }, (_, at) => {
      // Of one mint many events leave the window in the same second; some events are ahead of the clock.
      const spread = which === 2 ? random.int(0, 2) * 20 : random.int(0, 60);
      const block_time = random.int(0, 9) === 0 ? TIME + random.int(0, 60) : TIME - DAY_S + spread;
      const kind = random.int(0, 2) === 0 ? 'Routed' : 'FeesClaimed';
      const amounts = { amount_a: '18446744073709551615', amount_b: String(random.int(0, 9)) };
      return eventRow(name, kind, at, { block_time, ...amounts });
    }),
  );
  await store.insert('events', events);
  // One event twice.
  await store.insert('events', events.slice(0, 1));
  await countKinds(store, events as unknown as EventRow[]);
});
afterAll(() => store.close());

/** Follows the windows of all mints through a minute. @returns how often each mint's window had to be queried. */
async function follow<Row, Window extends { row: Row }>(
  moments: readonly number[],
  ask: (until: number) => Promise<Map<string, DayWindow<Window>>>,
  at: (window: Window, now: number) => DayWindow<Row>,
  none: Window,
): Promise<number[]> {
  const windows = new Map<string, DayWindow<Window>>();
  const before = new Map<string, DayWindow<Row>>();
  const asked = MINTS.map(() => 0);
  for (const now of moments) {
    const found = await ask(now);
    for (const [which, mint] of MINTS.entries()) {
      const fresh = found.get(mint) ?? { row: none, until: Number.POSITIVE_INFINITY };
      const known = windows.get(mint);
      const window = known !== undefined && now < known.until ? known : fresh;
      if (window !== known) asked[which] = (asked[which] as number) + 1;
      windows.set(mint, window);
      const told = at(window.row, now);
      expect(told.row, `${NAMES[which]} at ${now - TIME}`).toEqual(fresh.row.row);
      // Until the time that it names, the row stays the same.
      const last = before.get(mint);
      if (last !== undefined && now < last.until) expect(told.row).toEqual(last.row);
      before.set(mint, { row: told.row, until: Math.min(told.until, window.until) });
    }
  }
  return asked;
}

test(`a 24-hour window moved forward in memory equals the window queried anew, with fewer queries (SEED=${SEED})`, async () => {
  const random = createRandom(`${SEED} moments`);
  const moments = Array.from({ length: 62 }, (_, at) => TIME + at).filter(() => random.int(0, 2) === 0);
  const asked = [
    await follow(moments, (until) => eventsOfDay(store, MINTS, until), eventsAt, NO_EVENTS),
    await follow(moments, (until) => claimsOfDay(store, MINTS, until), claimsAt, NO_CLAIMS),
  ];
  for (const [busy = 0, quiet = 0, , silent = 0] of asked) {
    expect(busy).toBeLessThan(moments.length);
    expect(busy).toBeGreaterThan(1);
    expect(quiet).toBe(1);
    expect(silent).toBe(1);
  }
});

test('counting the keeper’s events of a day does not load derived events taken back long before', async () => {
  const signature = 'taken back';
  const before = { signature, position: 32768, policy: key('p'), mint: key('busy'), quote_mint: '' };
  const takenBack = Array.from({ length: 1_000 }, (_, slot) => ({
    ...{ ...before, slot: String(slot), block_time: TIME - 9 * DAY_S, log_partition: 0, taken_back: 1 },
  }));
  await store.insert('derived_events', takenBack);
  const strict: Store = {
    ...store,
    query: (sql, params) => store.query(`${sql} SETTINGS max_rows_in_set = 500`, params),
  };
  const { row } = await keeperOfDay(strict, TIME);
  expect(row.length).toBeGreaterThan(0);
  expect(await keeperOfDay(store, TIME)).toMatchObject({ row });
});
