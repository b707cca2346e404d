import { expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { LATEST_TABLES } from '../../../clickhouse/tables.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { createRandom } from '../../support/random.ts';
import { batchOf, logOf, PROGRAM } from './support/records.ts';
import { logOfStories } from './support/stories.ts';

const SEED = Number(process.env.SEED ?? 1);
const LOGS = process.env.NIGHTLY === '1' ? 20 : 1;
const CUTS = 2;

const TABLES: Record<string, string> = {
  ...Object.fromEntries(LATEST_TABLES.map((table) => [table, 'address'])),
  account_hours: 'address, hour',
  undated_hours: 'address, slot',
  first_streamed: 'address, hour',
  unseen_changes: 'address, to_slot, after_slot',
  brought_changes: 'address, to_slot, slot',
  carried_accounts: 'address, slot, carried',
  policy_marks: 'policy, hwm, profit_swept',
  hour_slots: 'hour',
  stream_holes: 'to_slot, after_slot',
};

/** What is stored after `hand` has applied a log. */
async function storedAfter(hand: (store: Store) => Promise<void>): Promise<Record<string, unknown[]>> {
  const store = await embeddedDatabase('several');
  try {
    await hand(store);
    const rows: Record<string, unknown[]> = {};
    for (const [table, order] of Object.entries(TABLES))
      rows[table] = await store.query(`SELECT * FROM ${table} FINAL ORDER BY ${order}`);
    return rows;
  } finally {
    await store.close();
  }
}

/** Rows that only one of the two has, ignoring zeros and empty texts. */
function differences(found: readonly unknown[] = [], expected: readonly unknown[] = []): string[] {
  const text = (row: unknown) =>
    JSON.stringify(row, (_, value) => (value === '0' || value === 0 || value === '' ? undefined : value));
  const [mine, theirs] = [found.map(text), expected.map(text)];
  const [inMine, inTheirs] = [new Set(mine), new Set(theirs)];
  return [
    ...mine.filter((row) => !inTheirs.has(row)).map((row) => `too much: ${row}`),
    ...theirs.filter((row) => !inMine.has(row)).map((row) => `lacking: ${row}`),
  ];
}

/** A store of which one write fails, before or after it is done. */
function mortal(store: Store, at: number, written: boolean): Store {
  let writes = 0;
  return {
    ...store,
    insert: async (table, rows) => {
      const dies = writes === at;
      writes += 1;
      if (!dies || written) await store.insert(table, rows);
      if (dies) throw new Error('the connection was cut');
    },
  };
}

test.each(Array.from({ length: LOGS }, (_, at) => SEED + at))(
  'every table is the same however a log of accounts is cut, interrupted and reapplied (SEED=%i)',
  async (seed) => {
    const random = createRandom(seed);
    const pick = (below: number) => Math.floor(random() * below);
    const log = logOf(logOfStories(random, 80, 24));
    const expected = await storedAfter((store) =>
      createMaterialiser({ store, programId: PROGRAM })(batchOf('accounts', log)),
    );
    for (const table of ['policies', 'token_accounts', 'mints', 'origins', 'pools', 'undated_hours'])
      expect(expected[table]?.length, table).toBeGreaterThan(3);
    expect(expected.account_hours?.length).toBeGreaterThan(100);
    expect(expected.unseen_changes?.length).toBeGreaterThan(50);
    expect(expected.carried_accounts?.length).toBeGreaterThan(50);
    for (let cut = 0; cut < CUTS; cut += 1) {
      const found = await storedAfter(async (store) => {
        let write = createMaterialiser({ store, programId: PROGRAM });
        for (let done = 0; done < log.length; ) {
          // Never past what is written: a log is read in order, possibly again from an earlier place.
          const from = pick(3) === 0 ? pick(done) : done;
          const to = Math.min(log.length, from + 1 + pick(log.length / 2));
          const entries = log.slice(from, to);
          if (pick(3) === 0) {
            const dying = mortal(store, pick(8), pick(2) === 0);
            const isDone = await createMaterialiser({ store: dying, programId: PROGRAM })(
              batchOf('accounts', entries),
            ).then(
              () => true,
              () => false,
            );
            if (!isDone) continue;
            write = createMaterialiser({ store, programId: PROGRAM });
          } else await write(batchOf('accounts', entries));
          done = Math.max(done, to);
        }
      });
      for (const table of Object.keys(TABLES))
        expect(differences(found[table], expected[table]), table).toEqual([]);
    }
  },
);
