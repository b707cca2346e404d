import { afterEach, beforeEach, expect, test } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';
import { declareProgram, isOfProgram } from '../../clickhouse/queries/progress/indexed-program.ts';
import { createMaterialiser } from '../../ingest/materialise/materialiser.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { DEVNET_PROGRAM_ID } from '../../schemas/program/devnet-program.ts';
import {
  batchOf,
  key,
  logOf,
  marker,
  PROGRAM,
  routed,
  transaction,
} from '../ingest/materialise/support/records.ts';
import { emptyDatabase, freshDatabase, urlOf } from '../support/database.ts';

const OURS = key('ours');
const THEIRS = key('theirs');

let store: Store;
beforeEach(async () => {
  store = await freshDatabase();
});
afterEach(() => store.close());

test('the first declaration fixes a database’s program, and any other program is refused', async () => {
  expect(await isOfProgram(store, OURS)).toBe(false);
  await declareProgram(store, OURS, null);
  await declareProgram(store, OURS, null);
  expect(await isOfProgram(store, OURS)).toBe(true);
  await expect(declareProgram(store, THEIRS, null)).rejects.toThrow(ConfigError);
  await expect(isOfProgram(store, THEIRS)).rejects.toThrow(
    `the database ${store.database} is of the program ${OURS}, and PROGRAM_ID is ${THEIRS}: set PROGRAM_ID to`,
  );
  // A refusal writes nothing into the database.
  expect(await isOfProgram(store, OURS)).toBe(true);
});

test('of several concurrent first declarations of different programs exactly one succeeds', async () => {
  const opened = await Promise.all([0, 1, 2, 3].map(() => openServer(urlOf(store), null)));
  const ended = await Promise.allSettled(
    opened.map((own, at) => declareProgram(own, key(`program ${at}`), null)),
  );
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const first = ended.findIndex(({ status }) => status === 'fulfilled');
  expect(await isOfProgram(store, key(`program ${first}`))).toBe(true);
  for (const own of opened) await own.close();
});

test('a database filled before any declaration belongs to the next program declared', async () => {
  const materialise = createMaterialiser({ store, programId: PROGRAM });
  await materialise(batchOf('transactions', logOf([transaction('a', 5n, [routed(7n)]), marker(5n)])));
  await declareProgram(store, OURS, null);
  await expect(declareProgram(store, THEIRS, null)).rejects.toThrow(ConfigError);
});

test('a database without the table of declarations has no declared program', async () => {
  const before = await emptyDatabase();
  expect(await isOfProgram(before, OURS)).toBe(false);
  await before.close();
});

test('the error says when PROGRAM_ID is the default because none was set', async () => {
  await declareProgram(store, OURS, null);
  await expect(isOfProgram(store, DEVNET_PROGRAM_ID)).rejects.toThrow(
    'which an unset one means: set PROGRAM_ID',
  );
});
