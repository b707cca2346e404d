import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { deadLetterCount } from '../../../clickhouse/queries/status/status-counts.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import type { TransactionRecord } from '../../../schemas/records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, logOf, PROGRAM, routed, transaction } from './support/records.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
beforeEach(async () => {
  for (const table of ['dead_letters', 'resolved_letters', 'transactions', 'applied'])
    await store.command(`TRUNCATE TABLE ${table}`);
});
afterAll(() => store.close());

const READ = transaction('one', 5n, [routed(7n)]);
const SPOILT: TransactionRecord = { ...READ, payload: new Uint8Array([1, 2, 3]) };
const OTHER: TransactionRecord = { ...transaction('other', 6n, []), payload: new Uint8Array([4]) };

/** How many letters count after each batch. @param anew another process takes each batch. */
async function counts(batches: readonly TransactionRecord[][], anew: boolean): Promise<string[]> {
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
])('a letter of a transaction counts until it is read well by %s; others stay', async (_, anew) => {
  expect(await counts([[SPOILT, OTHER], [OTHER], [READ]], anew)).toEqual(['2', '2', '1']);
});

test('one that was read well before, or in the same batch, never counts', async () => {
  expect(await counts([[READ], [SPOILT]], true)).toEqual(['0', '0']);
  await store.command('TRUNCATE TABLE dead_letters');
  await store.command('TRUNCATE TABLE applied');
  expect(await counts([[SPOILT, READ]], false)).toEqual(['0']);
});

test('a batch that is handed in again leaves the same count', async () => {
  const log = logOf([SPOILT, READ]);
  for (const entries of [log.slice(0, 1), log, log]) {
    const materialise = createMaterialiser({ store, programId: PROGRAM });
    await store.command('TRUNCATE TABLE applied');
    await materialise(batchOf('transactions', entries));
  }
  expect(await deadLetterCount(store)).toBe('0');
});
