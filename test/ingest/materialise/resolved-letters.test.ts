import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { deadLetterCount } from '../../../clickhouse/queries/status/status-counts.ts';
import { deadLetterRow } from '../../../ingest/materialise/letters/dead-letters.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import type { TransactionRecord, VerifiedRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, logOf, PROGRAM, routed, transaction } from './support/records.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
beforeEach(async () => {
  for (const table of [
    'dead_letters',
    'resolved_letters',
    'transactions',
    'whole_transactions',
    'disputed_transactions',
    'applied',
  ])
    await store.command(`TRUNCATE TABLE ${table}`);
});
afterAll(() => store.close());

const READ = transaction('one', 5n, [routed(7n)]);
const SPOILT: TransactionRecord = { ...READ, payload: new Uint8Array([1, 2, 3]) };
const OTHER: TransactionRecord = { ...transaction('other', 6n, []), payload: new Uint8Array([4]) };

/** How many letters count after each batch. @param anew whether another process applies each batch */
async function counts(
  batches: readonly (TransactionRecord | VerifiedRecord)[][],
  anew: boolean,
): Promise<string[]> {
  const log = logOf(batches.flat());
  let materialise = createMaterialiser({ store, programId: PROGRAM });
  const counted: string[] = [];
  for (const [at, batch] of batches.entries()) {
    const from = batches.slice(0, at).flat().length;
    if (anew) materialise = createMaterialiser({ store, programId: PROGRAM });
    await materialise(batchOf('transactions', log.slice(from, from + batch.length)));
    counted.push(await deadLetterCount(store));
  }
  return counted;
}

test.each([
  ['the process that found it', false],
  ['another process', true],
])('the dead letter of a transaction counts until that is read well by %s; others stay', async (_, anew) => {
  expect(await counts([[SPOILT, OTHER], [OTHER], [READ]], anew)).toEqual(['2', '2', '1']);
});

test('the dead letter of a transaction that was read well before, or in the same batch, never counts', async () => {
  expect(await counts([[READ], [SPOILT]], true)).toEqual(['0', '0']);
  await store.command('TRUNCATE TABLE dead_letters');
  await store.command('TRUNCATE TABLE applied');
  expect(await counts([[SPOILT, READ]], false)).toEqual(['0']);
});

test.each([
  ['one process', false],
  ['another process each time', true],
])(
  'a dead letter in a dead slot counts until it is struck there, though read well elsewhere (%s)',
  async (_, anew) => {
    const dead = { signature: encodeBase58(READ.signature), slot: 4n, policies: [], events: [] };
    const verified: VerifiedRecord = { kind: 'verified', slot: 9n, struck: [dead] };
    const inDead = { ...SPOILT, slot: 4n };
    expect(await counts([[inDead], [READ], [verified], [inDead]], anew)).toEqual(['1', '1', '0', '0']);
    await store.command('TRUNCATE TABLE dead_letters');
    await store.command('TRUNCATE TABLE applied');
    expect(await counts([[{ ...READ, slot: 4n }], [{ ...SPOILT, slot: 6n }]], anew)).toEqual(['0', '1']);
  },
);

test('a batch that is applied again leaves the same count of dead letters', async () => {
  const log = logOf([SPOILT, READ]);
  for (const entries of [log.slice(0, 1), log, log]) {
    const materialise = createMaterialiser({ store, programId: PROGRAM });
    await store.command('TRUNCATE TABLE applied');
    await materialise(batchOf('transactions', entries));
  }
  expect(await deadLetterCount(store)).toBe('0');
});

/** A store that notes how many rows about letters each query brought. */
function watched(): { store: Store; rows: number[] } {
  const rows: number[] = [];
  const query = async <Row>(sql: string, params?: Parameters<Store['query']>[1]): Promise<Row[]> => {
    const found = await store.query<Row>(sql, params);
    if (sql.includes('dead_letters')) rows.push(found.length);
    return found;
  };
  return { store: { ...store, query }, rows };
}

test('open dead letters are queried for a batch, not kept in memory, and not queried again once there are none', async () => {
  const others = Array.from({ length: 3_000 }, (_, at) => ({
    ...({ kind: 'dead-letter', source: 'stream', what: 'transaction', where: `other ${at}` } as const),
    ...{ reason: 'spoilt', slot: 1n, bytes: new Uint8Array(0) },
  }));
  const log = logOf(Array(6).fill(READ).with(0, SPOILT));
  await createMaterialiser({ store, programId: PROGRAM })(batchOf('transactions', log.slice(0, 1)));
  await store.insert(
    'dead_letters',
    others.map((letter) => deadLetterRow(letter, 1)),
  );
  const { store: own, rows } = watched();
  const materialise = createMaterialiser({ store: own, programId: PROGRAM });
  for (const entry of log.slice(1, 4)) await materialise(batchOf('transactions', [entry]));
  expect(await deadLetterCount(store)).toBe('3000');
  expect(Math.max(...rows)).toBe(1);

  await store.command('TRUNCATE TABLE dead_letters');
  const later = createMaterialiser({ store: own, programId: PROGRAM });
  rows.length = 0;
  for (const entry of log.slice(4)) await later(batchOf('transactions', [entry]));
  expect(rows).toEqual([0]);
});
