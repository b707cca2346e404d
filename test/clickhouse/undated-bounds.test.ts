import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { undatedEvents } from '../../clickhouse/queries/analytics/undated.ts';
import { createRandom } from '../../devnet/program/state/random.ts';
import { eventRow, TIME } from '../api/support/rows.ts';
import { embeddedDatabase } from '../support/embedded.ts';

const SEED = process.env.SEED ?? 'undated bounds';
const RUNS = 300;
let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());

/** How many rows joins have made so far. */
async function pairs(): Promise<number> {
  const [row] = await store.query<{ pairs: string }>(
    "SELECT toString(sum(value)) AS pairs FROM system.events WHERE event = 'JoinResultRowCount'",
  );
  return Number(row?.pairs);
}

test(`events without a time are bounded by all slot intervals around them, without joining those (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const order = { kind: 'Routed', log_partition: 0 };
  const row = (span: number, actor: string, offset: number) => {
    // Times go back here and there, and a slot interval may have none.
    const first = random.int(0, 4) === 0 ? null : TIME + span * 10 + random.int(-40, 40);
    const last = first === null ? null : first + random.int(0, 9);
    const times = { first_event: first, last_event: last };
    return { ...order, span: String(span), actor, log_offset: String(offset), event_count: '1', ...times };
  };
  const spans = Array.from({ length: RUNS }, (_, at) => at).filter((at) => at % 7 !== 3);
  const replaced = spans.map((span) => row(span, 'keeper', 1));
  const standing = spans.flatMap((span) => [row(span, 'keeper', 2), row(span, 'agent', 1)]);
  await store.insert('kind_spans', replaced);
  await store.insert('kind_spans', standing);
  const at = [0, 1, 3, 9, 10, 50, 51, 150, 298, 299, 400];
  const events = at.map((span) => ({
    ...eventRow('coin', 'Routed', 0, { block_time: null }),
    ...{ slot: String(span * 512 + 5), signature: `run ${span}` },
  }));
  await store.insert('events', events);
  await store.insert(
    'undated_events',
    events.map(({ slot, signature }) => ({ slot, signature, position: 0 })),
  );
  const known = (times: (number | null)[]) => times.filter((time) => time !== null);
  const expected = at.map((span) => {
    const below = known(standing.filter((one) => Number(one.span) < span).map((one) => one.last_event));
    const above = known(standing.filter((one) => Number(one.span) > span).map((one) => one.first_event));
    return {
      slot: String(span * 512 + 5),
      earliest: below.length === 0 ? null : String(Math.max(...below)),
      latest: above.length === 0 ? null : String(Math.min(...above)),
    };
  });
  const before = await pairs();
  expect(await undatedEvents(store)).toMatchObject(expected);
  expect((await pairs()) - before).toBeLessThan(standing.length);
});
