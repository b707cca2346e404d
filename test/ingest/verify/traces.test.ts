import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { READING } from '../../../clickhouse/reading-rank.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import { eventRow, key, signature } from '../../api/support/rows.ts';
import { embeddedDatabase } from '../../support/embedded.ts';

const ROWS = 200_000;
let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());

test('what a strike takes out is found by its slot, without reading all rows of its policies', async () => {
  const [slot, other] = [500_000n, 500_010n];
  const ghost = signature('ghost');
  const events = [slot, other].map((at) =>
    eventRow('coin', 'Routed', 0, { slot: String(at), signature: ghost }),
  );
  const takenOut = eventRow('coin', '', 1, { slot: String(slot), signature: ghost, position: 1 });
  await store.insert('events', [...events, takenOut]);
  const [policy, mint] = [String(events[0]?.policy), key('coin')];
  const row = (of: string, at: bigint, has_index: number) => ({
    ...{ policy: of, slot: String(at), signature: ghost, tx_index: 0, has_index, block_time: null },
  });
  await store.insert('policy_transactions', [
    row(policy, slot, READING.placeKnown),
    row(key('quiet'), slot, READING.placeKnown),
    row(key('struck'), slot, READING.struck),
    row(policy, other, READING.placeKnown),
  ]);
  const many = `toUInt64(number) AS slot, leftPad(toString(number), 88, 'x') AS signature, 1 FROM numbers(${ROWS})`;
  await store.command(
    `INSERT INTO policy_transactions (policy, slot, signature, has_index) SELECT {policy:String}, ${many}`,
    { policy },
  );
  await store.command(
    `INSERT INTO events (policy, mint, slot, signature, has_index) SELECT {policy:String}, {mint:String}, ${many}`,
    { policy, mint },
  );
  const strict: Store = {
    ...store,
    query: (sql, params) => store.query(`${sql} SETTINGS max_rows_to_read = ${ROWS / 4}`, params),
  };
  const ghosts = [
    { signature: ghost, slot },
    { signature: ghost, slot },
    { signature: signature('none'), slot: other },
  ];
  const traces = (await storedState(strict).verification?.tracesOf(ghosts)) ?? [];
  expect(traces).toHaveLength(3);
  for (const { policies, events: found } of traces.slice(0, 2)) {
    expect([...policies].sort()).toEqual([policy, key('quiet')].sort());
    expect(found.map(({ position }) => position).sort()).toEqual([0, 1]);
  }
  expect(traces[2]).toMatchObject({ policies: [], events: [] });
});
