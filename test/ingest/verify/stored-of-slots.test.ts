import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { eventsOf, policiesOf, storedBetween } from '../../../clickhouse/queries/progress/verification.ts';
import { eventsOfDecided, policiesOfDecided } from '../../../clickhouse/queries/transactions/disputed.ts';
import { READING } from '../../../clickhouse/reading-rank.ts';
import { key, signature, TIME } from '../../api/support/rows.ts';
import { embeddedDatabase } from '../../support/embedded.ts';

const ROWS = 200_000;
/** Bytes in memory for a row: its policy or mint, its slot and its signature. */
const PLACE_BYTES = 44 + 8 + 88;
const FIRST = 1_000n;
const ASKED = [
  { slot: String(FIRST + 5n), signature: signature('5') },
  { slot: String(FIRST + 6n), signature: signature('6') },
];
let store: Store;

beforeAll(async () => {
  store = await embeddedDatabase('several');
  for (const table of ['policy_transactions', 'events']) await store.command(`SYSTEM STOP MERGES ${table}`);
});
afterAll(async () => {
  for (const table of ['policy_transactions', 'events']) await store.command(`SYSTEM START MERGES ${table}`);
  await store.close();
});

async function bytesRead(): Promise<number> {
  const [row] = await store.query<{ bytes: string }>(
    "SELECT toString(value) AS bytes FROM system.events WHERE event = 'SelectedBytes'",
  );
  return Number(row?.bytes);
}

const write = (name: string, has_index: number, block_time: number | null, policy = 'p') => ({
  ...{ policy: key(policy), slot: String(FIRST + BigInt(name)), signature: signature(name) },
  ...{ tx_index: 0, has_index, block_time },
});

test('of several rows the highest rank counts, of equal ranks the newest, before and after parts are merged', async () => {
  const { placeUnknown, placeKnown, struck } = READING;
  const inserts = [
    // Some are read again, once beside another's row; of two that are alike the last has no time.
    [write('1', placeUnknown, null), write('2', placeKnown, TIME), write('5', placeKnown, TIME)],
    [write('1', placeKnown, TIME), write('2', placeKnown, null), write('4', placeKnown, TIME)],
    [write('3', placeKnown, null), write('3', placeUnknown, TIME), write('4', struck, TIME)],
    [write('4', placeKnown, TIME), write('6', placeKnown, TIME), write('6', placeKnown, TIME, 'q')],
    [write('6', struck, null, 'q'), write('3', placeKnown, TIME), write('6', placeUnknown, null)],
  ];
  for (const rows of inserts) await store.insert('policy_transactions', rows);
  const answers = async () => {
    const stored = await storedBetween(store, FIRST, FIRST + 9n);
    return {
      stored: stored.map(({ slot, undated = false }) => `${slot - FIRST} ${undated}`).sort(),
      written: (await policiesOf(store, ASKED)).map(({ slot, policy }) => `${slot} ${policy}`).sort(),
      decided: (await policiesOfDecided(store, ASKED))
        .map(({ slot, policy, has_index }) => `${slot} ${policy} ${has_index}`)
        .sort(),
    };
  };
  const expected = {
    stored: ['1 false', '2 true', '3 false', '5 false', '6 false'],
    written: [`1005 ${key('p')}`, `1006 ${key('p')}`],
    decided: [
      `1005 ${key('p')} ${placeKnown}`,
      `1006 ${key('p')} ${placeKnown}`,
      `1006 ${key('q')} ${struck}`,
    ].sort(),
  };
  expect(await answers()).toEqual(expected);
  await store.command('SYSTEM START MERGES policy_transactions');
  await store.command('OPTIMIZE TABLE policy_transactions FINAL');
  await store.command('SYSTEM STOP MERGES policy_transactions');
  expect(await answers()).toEqual(expected);
});

test('queries for a few slots read less than a fifth of the bytes that all places in the table take', async () => {
  const many = `SELECT base58Encode(repeat(reinterpretAsString(sipHash64(number)), 4)) AS one,
    toUInt64(5000 + number) AS slot, leftPad(toString(number), 88, 'x') AS signature FROM numbers(${ROWS})`;
  await store.command(
    `INSERT INTO policy_transactions (policy, slot, signature, has_index) SELECT *, 1 FROM (${many})`,
  );
  await store.command(
    `INSERT INTO events (mint, policy, slot, signature, has_index, kind, summary)
     SELECT one, one, slot, signature, 1, 'Routed', repeat('x', 100) FROM (${many})`,
  );
  const cost = async (ask: () => Promise<unknown[]>, found: number) => {
    const before = await bytesRead();
    expect(await ask()).toHaveLength(found);
    return (await bytesRead()) - before;
  };
  const bySlot = [
    await cost(() => storedBetween(store, FIRST, FIRST + 9n), 5),
    await cost(() => policiesOfDecided(store, ASKED), 3),
    await cost(() => eventsOfDecided(store, ASKED), 0),
    await cost(() => policiesOf(store, ASKED), 2),
    await cost(() => eventsOf(store, ASKED), 0),
  ];
  const places = ROWS * PLACE_BYTES;
  expect(bySlot.filter((bytes) => bytes > places / 5)).toEqual([]);
});
