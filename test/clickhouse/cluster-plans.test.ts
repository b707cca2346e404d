import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { createChain } from '../../devnet/chain/chain.ts';
import { createLife } from '../../devnet/life/life.ts';
import { createMaterialiser } from '../../ingest/materialise/materialiser.ts';
import { chunks } from '../../runtime/chunks.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import { account, batchOf, logOf, PROGRAM } from '../ingest/materialise/support/records.ts';
import { logOfStories } from '../ingest/materialise/support/stories.ts';
import { recordsOf } from '../ingest/support/ledger-records.ts';
import { createRandom } from '../support/random.ts';
import { CLUSTER, type ClusterForm, openClusterForm } from './support/cluster-form.ts';
import { QUESTIONS, ROWS } from './support/every-question.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

let form: ClusterForm;
beforeAll(async () => {
  form = await openClusterForm(2);
});
afterAll(() => form.store.close());

test('the test cluster has two shards, of which this engine is only one', async () => {
  const shards = await form.store.query(
    'SELECT is_local FROM system.clusters WHERE cluster = {cluster:String} ORDER BY shard_num',
    { cluster: CLUSTER },
  );
  expect(shards).toEqual([{ is_local: 1 }, { is_local: 0 }]);
});

test('the materialiser’s statements for accounts, transactions and their sums run on two shards', async () => {
  const seed = 'clustered';
  const chain = createChain({ dir: null, seed, genesisTime: Date.UTC(2026, 0, 1, 23, 59, 50) });
  const life = createLife(chain, { seed, policies: 3, rate: 4, metadataBase: 'http://127.0.0.1:1' });
  for (let slot = 0; slot < 20; slot += 1) await chain.produce(life.next());
  const { accounts, transactions } = recordsOf(chain);
  const { store } = form;
  const programId = decodeKey(chain.programId) as Uint8Array;
  await createMaterialiser({ store, programId })(batchOf('accounts', logOf(accounts)));
  // Two processes one after the other, each with its half of the log in small batches.
  const log = logOf(transactions);
  for (const half of chunks(log, Math.ceil(log.length / 2))) {
    const apply = createMaterialiser({ store, programId });
    for (const entries of chunks(half, 20)) await apply(batchOf('transactions', entries));
  }
  const [made] = await store.query('SELECT sum(claim_count) > 0 AS some FROM policy_totals FINAL');
  expect(made).toEqual({ some: 1 });
  const apply = createMaterialiser({ store, programId: PROGRAM });
  for (const entries of chunks(logOf(logOfStories(createRandom(1), 10, 15)), 100))
    await apply(batchOf('accounts', entries, { partition: 1 }));
});

test('the materialiser’s statements for closed accounts run on two shards', async () => {
  for (const [table, rows] of Object.entries(ROWS)) await form.store.insert(table, rows);
  const apply = createMaterialiser({ store: form.store, programId: PROGRAM });
  const gone = { slot: 20n, lamports: 0n };
  await apply(
    batchOf(
      'accounts',
      logOf([
        account('venue account', new Uint8Array(32), new Uint8Array(0), { ...gone, expected: 'program' }),
        account('metadata', new Uint8Array(32), new Uint8Array(0), { ...gone, expected: 'metadata' }),
      ]),
      { partition: 2 },
    ),
  );
});

test.each(Object.entries(QUESTIONS))('the query %s is planned over all shards', async (_, ask) => {
  await ask(form.store);
});

/** The query texts of a file that read a table, each as its constant parts between the interpolated ones. */
function readsIn(file: string): string[][] {
  const texts: string[][] = [];
  const walk = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return;
    const { type, quasis, value } = node as {
      type?: string;
      quasis?: { value: { cooked: string } }[];
      value?: unknown;
    };
    const parts = type === 'TemplateLiteral' ? (quasis ?? []).map((one) => one.value.cooked) : [value];
    if (type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string'))
      texts.push(parts as string[]);
    Object.values(node).forEach(walk);
  };
  walk(parseAst(readFileSync(path.join(ROOT, file), 'utf8'), { lang: 'ts' }));
  return texts.filter((parts) => /\b(?:FROM|JOIN)\s+(?!system\.|\$)\S/.test(parts.join('…')));
}

function isPartOf(statement: string, parts: readonly string[]): boolean {
  let at = 0;
  return parts.every((part) => {
    const found = statement.indexOf(part, at);
    at = found + part.length;
    return found !== -1;
  });
}

test('every query text in clickhouse/ and ingest/ has run in this file', () => {
  const files = globSync(['clickhouse/**/*.ts', 'ingest/**/*.ts'], { cwd: ROOT });
  const reads = files.flatMap((file) => readsIn(file).map((parts) => ({ file, parts })));
  expect(reads.length).toBeGreaterThan(200);
  const asked = [...form.asked];
  const untried = reads
    .filter(({ parts }) => !asked.some((statement) => isPartOf(statement, parts)))
    .map(({ file, parts }) => `${file}: ${parts.join('…').replace(/\s+/g, ' ').slice(0, 100)}`);
  // A new query needs a line in support/every-question.ts.
  expect(untried).toEqual([]);
});
