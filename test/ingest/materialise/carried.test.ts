import { afterAll, expect, test } from 'vitest';
import { createCover } from '../../../api/history/cover.ts';
import type { Store } from '../../../clickhouse/client.ts';
import type { CarriedRow } from '../../../clickhouse/hour-tables.ts';
import type { UnseenChange } from '../../../clickhouse/queries/history/closing-states.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { createRandom } from '../../support/random.ts';
import { type CarriedStory, carriedStory, FIRST_HOUR, HOUR_SLOTS, HOURS } from './support/carried-story.ts';
import { batchOf, logOf, PROGRAM } from './support/records.ts';

const SEED = Number(process.env.SEED ?? 11);
const STORIES = process.env.NIGHTLY === '1' ? 20 : 1;
const ACCOUNTS = 40;

const stores: Store[] = [];
afterAll(async () => {
  for (const store of stores) await store.close();
});

async function fresh(): Promise<Store> {
  const store = await embeddedDatabase('several');
  stores.push(store);
  return store;
}

/** All stored rows from which hours are served. */
async function stored(store: Store) {
  const [rows, unseen, carried] = await Promise.all([
    store.query<{ address: string; hour: number; seen: string; amount: string }>(
      `SELECT address, hour, toString(bitShiftRight(version, 64)) AS seen, toString(amount) AS amount
       FROM account_hours FINAL ORDER BY address, hour`,
    ),
    store.query<UnseenChange>(
      `SELECT u.address AS address, u.after_slot AS after_slot, u.to_slot AS to_slot,
         arrayFilter(slot -> slot > u.after_slot AND slot <= u.to_slot, f.slots) AS streamed, b.slots AS brought
       FROM (SELECT DISTINCT address, after_slot, to_slot FROM unseen_changes) AS u
       LEFT JOIN (SELECT address, groupUniqArray(slot) AS slots FROM first_streamed GROUP BY address) AS f
         ON f.address = u.address
       LEFT JOIN (SELECT address, to_slot, groupUniqArray(slot) AS slots FROM brought_changes GROUP BY address, to_slot) AS b
         ON b.address = u.address AND b.to_slot = u.to_slot`,
    ),
    store.query<CarriedRow>('SELECT DISTINCT address, slot, carried FROM carried_accounts'),
  ]);
  return { byAddress: Map.groupBy(rows, ({ address }) => address), unseen, carried };
}

interface Told {
  address: string;
  name: string;
  end: number;
  amount: number;
}

/** The values that would be served at the ends of hours up to a slot; absent ones are left out. */
function toldBy({ accounts }: CarriedStory, of: Awaited<ReturnType<typeof stored>>, slot: number): Told[] {
  const hours = Array.from({ length: HOURS + 1 }, (_, at) => ({
    ...{ hour: FIRST_HOUR + at, slot: String(Math.max(1, at * HOUR_SLOTS)) },
  }));
  const { lost } = createCover({ hours, holes: [] }, of.unseen, of.carried);
  const told: Told[] = [];
  for (const { address, name } of accounts)
    for (let end = 1; end <= HOURS && end * HOUR_SLOTS <= slot; end += 1) {
      const row = of.byAddress.get(address)?.findLast(({ hour }) => hour < FIRST_HOUR + end);
      if (row === undefined || lost(row, FIRST_HOUR + end) !== null) continue;
      told.push({ address, name, end, amount: Number(row.amount) });
    }
  return told;
}

const wrongOf = ({ truth }: CarriedStory, told: readonly Told[]) =>
  told.filter(({ address, end, amount }) => truth(address, end) !== amount);

const tables = async (store: Store) => ({
  hours: await store.query('SELECT * FROM account_hours FINAL ORDER BY address, hour'),
  unseen: await store.query('SELECT * FROM unseen_changes FINAL ORDER BY ALL'),
  carried: await store.query('SELECT * FROM carried_accounts FINAL ORDER BY ALL'),
});

test.each(Array.from({ length: STORIES }, (_, at) => SEED + at))(
  'wherever a log ends, an hour is right or absent, and present where a stream carried the account (SEED=%i)',
  async (seed) => {
    const random = createRandom(seed);
    const story = carriedStory(random, ACCOUNTS);
    const entries = logOf(story.log);
    const store = await fresh();
    /** How many wrong values would be served without the rows of carried_accounts. */
    let careless = 0;
    for (let at = 0; at < entries.length; ) {
      const size = 1 + Math.floor(random() * 80);
      // Each batch is applied by a new process, as after a takeover.
      const write = createMaterialiser({ store, programId: PROGRAM });
      const batch = entries.slice(at, at + size);
      await write(batchOf('accounts', batch));
      at += size;
      const marker = story.log.slice(0, at).findLast((record) => record.kind === 'marker');
      const passed = marker === undefined ? 0 : Number(marker.slot);
      const known = await stored(store);
      expect(wrongOf(story, toldBy(story, known, passed)), `after ${at} records`).toEqual([]);
      careless += wrongOf(story, toldBy(story, { ...known, carried: [] }, passed)).length;
    }
    const all = await stored(store);
    const told = toldBy(story, all, HOURS * HOUR_SLOTS);
    const places = new Set(told.map(({ address, end }) => `${address} ${end}`));
    let sure = 0;
    for (const { address, name, sure: ends } of story.accounts)
      for (const end of ends) {
        sure += 1;
        expect(places, `${name}, hour ${end}`).toContain(`${address} ${end}`);
      }
    expect(sure).toBeGreaterThan(40);
    expect(careless).toBeGreaterThan(20);

    const expected = await tables(store);
    const from = Math.floor(random() * entries.length);
    await createMaterialiser({ store, programId: PROGRAM })(batchOf('accounts', entries.slice(from)));
    expect(await tables(store)).toEqual(expected);
  },
);
