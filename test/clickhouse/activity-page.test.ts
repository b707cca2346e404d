import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { activityPage } from '../../clickhouse/queries/activity/activity.ts';
import { recentClaims, recentClaimsOfBusy } from '../../clickhouse/queries/activity/claims.ts';
import { RECENT_CLAIMS_MAX } from '../../schemas/responses/coin/fees.ts';
import { eventRow, key, signature } from '../api/support/rows.ts';
import { embeddedDatabase } from '../support/embedded.ts';
import { createRandom } from '../support/random.ts';

const SEED = Number(process.env.SEED ?? 1);

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase();
});
afterAll(() => store.close());

test(`pages searched among a mint’s newest events first equal those read from all its events (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const below = (most: number) => Math.floor(random() * most);
  const written: object[] = [];
  const state = (of: number, change: object) =>
    eventRow('coin', 'Routed', 0, {
      ...{ signature: signature(`event ${of}`), slot: String(10 + (of % 12)), position: of % 3 },
      ...{ tx_index: of % 5, has_index: 0, summary: `{"n":"${of}"}`, ...change },
    });
  // Unmerged parts: events of one slot are in several, repeated, some with their index, some struck out.
  for (let part = 0; part < 12; part += 1) {
    const rows = Array.from({ length: 1 + below(9) }, () => {
      const change = [{}, { has_index: 1, tx_index: below(5) }, { has_index: 2, kind: '' }][below(3)];
      return state(below(60), change as object);
    });
    // A key is in one insert once: nothing would say which of two rows is the newer.
    const once = [...new Map(rows.map((row) => [String(row.signature), row])).values()];
    await store.insert('events', [...once, eventRow('another', 'Routed', part)]);
    written.push(...once);
  }
  const all = await activityPage(store, key('coin'), 200, 0, false);
  expect(all.length).toBeGreaterThan(10);
  expect(all.length).toBeLessThan(written.length);
  for (let limit = 1; limit < 12; limit += 1)
    for (let offset = 0; offset <= all.length + 1; offset += 1 + below(3))
      expect(await activityPage(store, key('coin'), limit, offset, true)).toEqual(
        all.slice(offset, offset + limit),
      );
  expect(await activityPage(store, key('nobody'), 50, 0, true)).toEqual([]);
});

test(`the newest claims of busy mints equal those found by the query for other mints (SEED=${SEED})`, async () => {
  const random = createRandom(SEED + 1);
  const below = (most: number) => Math.floor(random() * most);
  const most = { many: 700, few: 30 };
  const names = ['struck', ...(Object.keys(most) as (keyof typeof most)[])] as const;
  const state = (name: string, of: number, slot: number, change: object) =>
    eventRow(name, 'FeesClaimed', 0, {
      ...{ signature: signature(`claim ${of} of ${name}`), slot: String(slot), tx_index: of % 5 },
      ...{ has_index: 0, amount_a: String(of), ...change },
    });
  const isStruck = { has_index: 2, kind: '' };
  for (let part = 0; part < 8; part += 1) {
    for (const name of ['many', 'few'] as const) {
      const rows = Array.from({ length: most[name] / 4 }, () => {
        const of = below(most[name]);
        return state(name, of, 10 + (of % 90), below(6) === 0 ? isStruck : { has_index: below(2) });
      });
      const once = [...new Map(rows.map((row) => [String(row.signature), row])).values()];
      await store.insert('events', [...once, eventRow(name, 'Routed', part)]);
    }
    // One mint's newest claims are there several times and all struck out: more rows than a page looks for.
    const all = Array.from({ length: 400 }, (_, of) =>
      state('struck', of, 10 + of, part === 7 ? isStruck : {}),
    );
    await store.insert('events', part === 7 ? all.slice(250) : part < 4 ? all : []);
  }
  const mints = [...names, 'nobody'].map(key);
  const found = await recentClaims(store, mints);
  expect(found.get(key('many'))).toHaveLength(RECENT_CLAIMS_MAX);
  expect(found.get(key('few'))?.length).toBeLessThan(RECENT_CLAIMS_MAX);
  expect(await recentClaimsOfBusy(store, mints)).toEqual(found);
});
