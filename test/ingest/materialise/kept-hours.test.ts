import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { keepQuoteHours } from '../../../ingest/materialise/quote-hours.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { HOUR_S } from '../../../schemas/units.ts';
import { appliedRow } from '../../api/support/rows.ts';
import { awaited } from '../../support/awaited.ts';
import { freshDatabase } from '../../support/database.ts';

const FIRST = 490_000;
/** Longer than any test: sums that are stored meanwhile did not wait for the next look. */
const A_DAY_MS = 86_400_000;

let store: Store;
const stop = new AbortController();
beforeAll(async () => {
  store = await freshDatabase();
  const hours = [0, 1, 2, 3].map((at) => ({ hour: FIRST + at, slot: String(100 * at + 1), before: '0' }));
  await store.insert('hour_slots', hours);
});
afterAll(async () => {
  stop.abort();
  await store.close();
});

let offset = 10;
const passes = async (hour: number) => {
  offset += 1;
  const at = { log_offset: String(offset), block_time: (FIRST + hour) * HOUR_S + 1 };
  await store.insert('applied', [appliedRow('transactions', 0, at), appliedRow('accounts', 0, at)]);
};
const gap = (closed: 0 | 1) =>
  store.insert('gaps', [
    { ...{ from_slot: '1', log_partition: 0, log_offset: String(closed + 1) }, to_slot: '9', closed },
  ]);
const kept = async () => {
  const rows = await store.query<{ hour: number }>('SELECT hour FROM quote_hours FINAL ORDER BY hour');
  return rows.map(({ hour }) => hour - FIRST);
};

test('sums of a passed hour are stored once no gap is open, without waiting for the next look', async () => {
  await gap(0);
  await passes(2);
  const asked: string[] = [];
  const query: Store['query'] = (sql, params) => {
    asked.push(sql);
    return store.query(sql, params);
  };
  const keeping = keepQuoteHours({
    store: { ...store, query },
    logger: createLogger('silent', 'test'),
    signal: stop.signal,
    times: { askEveryMs: 1, lookEveryMs: A_DAY_MS, settleMs: 0, rest: 0 },
  });
  await awaited(() => expect(asked.filter((sql) => sql.includes('FROM gaps')).length).toBeGreaterThan(2));
  expect(await kept()).toEqual([]);
  await gap(1);
  await awaited(async () => expect(await kept()).toEqual([1, 2]));
  await passes(3);
  await awaited(async () => expect(await kept()).toEqual([1, 2, 3]));
  stop.abort();
  await keeping;
});
