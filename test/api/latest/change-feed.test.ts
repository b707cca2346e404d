import { afterAll, beforeAll, expect, test } from 'vitest';
import { printedParts } from '../../../api/http/answers/printed.ts';
import type { SharedRoute } from '../../../api/http/route.ts';
import { createHandOver, createTableFeed, type Feed } from '../../../api/latest/feed.ts';
import { createMemory, type Memory } from '../../../api/latest/memory.ts';
import type { ReadDeps } from '../../../api/latest/read-deps.ts';
import { readRoutes } from '../../../api/routes.ts';
import type { ChangedTable } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { createChain } from '../../../devnet/chain/chain.ts';
import { createLife } from '../../../devnet/life/life.ts';
import { createRandom } from '../../../devnet/program/state/random.ts';
import type { LogEntry, Topic } from '../../../ingest/log/port.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import type { AccountRecord, GapRecord, LogRecord } from '../../../schemas/records.ts';
import { SORTS } from '../../../schemas/responses/rankings.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { policyAddress, policyTokenAccounts } from '../../../schemas/solana/pda.ts';
import { batchOf, logOf } from '../../ingest/materialise/support/records.ts';
import { recordsOf } from '../../ingest/support/ledger-records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { SETTINGS } from '../support/api.ts';

const SEED = process.env.SEED ?? 'changes-1';
const GENESIS = Date.UTC(2026, 0, 1, 23, 59, 50);
const NOW = GENESIS + 120_000;

/** What a memory is of that is never told of one table. */
const DROPPED = [
  'policies',
  'venue_accounts',
  'token_accounts',
  'pools',
  'events',
  'policy_totals',
  'policy_transactions',
] as const satisfies readonly ChangedTable[];

let store: Store;
let chain: ReturnType<typeof createChain>;
let logs: Record<'accounts' | 'transactions', LogEntry[]>;
let routes: SharedRoute[];

beforeAll(async () => {
  chain = createChain({ dir: null, seed: SEED, genesisTime: GENESIS });
  const life = createLife(chain, { seed: SEED, policies: 5, rate: 4, metadataBase: 'http://127.0.0.1:1' });
  for (let slot = 0; slot < 40; slot += 1) await chain.produce(life.next());
  const { accounts, transactions } = recordsOf(chain);
  logs = { accounts: logOf([...accounts, closing(accounts)]), transactions: logOf(withGap(transactions)) };
  store = await embeddedDatabase('several');
  const deps: ReadDeps = {
    latest: null as never,
    settings: { ...SETTINGS, programId: chain.programId },
    readPosts: null,
  };
  routes = readRoutes(deps).filter((route) => route.cached);
});
afterAll(() => store.close());

/** The bankroll of a policy is gone a slot after its last write. */
function closing(records: readonly LogRecord[]): AccountRecord {
  const [policy] = chain.state().policies.values();
  const program = decodeKey(chain.programId) as Uint8Array;
  const { bankroll } = policyTokenAccounts(
    program,
    policyAddress(program, decodeKey(policy?.mint ?? '') as Uint8Array),
  );
  const venue = records.findLast(
    (record) => record.kind === 'account' && Buffer.compare(record.address, bankroll) === 0,
  ) as AccountRecord;
  const { slot, writeVersion } = venue;
  const gone = { lamports: 0n, data: new Uint8Array(0), owner: new Uint8Array(32) };
  return { ...venue, ...gone, expected: 'token_account', slot: slot + 1n, writeVersion: writeVersion + 1n };
}

/** A stretch of the log in which history is known to be incomplete. */
function withGap(records: readonly LogRecord[]): LogRecord[] {
  const third = Math.floor(records.length / 3);
  const gap = (closed: boolean): GapRecord => ({
    kind: 'gap',
    fromSlot: 1n,
    toSlot: 5n,
    toTime: null,
    closed,
  });
  return records.toSpliced(2 * third, 0, gap(true)).toSpliced(third, 0, gap(false));
}

function memoryOf(feed: Feed): Memory {
  const monotonic = () => performance.now();
  return createMemory({ store, feed, clock: () => NOW, monotonic, maxBytes: 10_000_000 });
}

/** A feed that forgets what was written to one table. */
function without(table: ChangedTable, feed: Feed): Feed {
  return {
    ...feed,
    take: async () => {
      const taken = await feed.take();
      taken?.delete(table);
      return taken;
    },
  };
}

/** Every answer that is shared, as text by its address; asked at once, so that what is missing is read together. */
async function answersOf(memory: Memory): Promise<Map<string, string>> {
  const mints = [...chain.state().policies.values()].map(({ mint }) => mint);
  const questions = routes.flatMap((route) => {
    const queries = route.path === '/rankings' ? SORTS.map((sort) => `sort=${sort}`) : [''];
    const ofMints = route.path.includes(':mint') ? mints : [''];
    return ofMints.flatMap((mint) => queries.map((query) => ({ route, mint, query })));
  });
  const answers = questions.map(async ({ route, mint, query }) => {
    const context = { params: { mint }, query: new URLSearchParams(query) };
    const { value } = await memory.read((view) => route.answer(context, view));
    const { body, rest } = value;
    const bytes = Buffer.isBuffer(body)
      ? `${body}${(rest ?? []).map(({ bytes }) => bytes).join('')}`
      : JSON.stringify(value);
    const text = printedParts(body)?.texts.join('') ?? bytes;
    return [`${route.path.replace(':mint', mint)}?${query}`, text] as const;
  });
  return new Map(await Promise.all(answers));
}

test(`what was told of changes equals what is read anew, figure by figure; what misses one does not (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const programId = decodeKey(chain.programId) as Uint8Array;
  const handOver = createHandOver();
  const monotonic = () => performance.now();
  const told = [memoryOf(handOver), memoryOf(createTableFeed(store, monotonic))];
  const broken = new Map(
    DROPPED.map((table) => [table, memoryOf(without(table, createTableFeed(store, monotonic)))]),
  );
  const caught = new Set<ChangedTable>();
  const materialise = createMaterialiser({
    store,
    programId,
    onChanged: handOver.note,
    onApplied: handOver.applied,
  });
  const again = createMaterialiser({ store, programId, recomputeByOwner: async () => {} });
  const done: Record<Topic & keyof typeof logs, number> = { accounts: 0, transactions: 0 };
  const step = async (topic: keyof typeof logs) => {
    const log = logs[topic];
    const from = done[topic];
    const to = Math.min(log.length, from + random.int(1, Math.ceil(log.length / 3)));
    await materialise(batchOf(topic, log.slice(from, to)));
    done[topic] = to;
    // Delivered once more, and re-read beside its owner.
    if (from > 0 && random.int(0, 3) === 0)
      await again(batchOf(topic, log.slice(random.int(0, from - 1), from)));
  };
  const compare = async () => {
    const fresh = await answersOf(memoryOf(createTableFeed(store, monotonic)));
    for (const memory of told) {
      await memory.turn();
      const answers = await answersOf(memory);
      for (const [address, text] of fresh) {
        const answer = answers.get(address) ?? 'null';
        // What is the same letter for letter need not be read: that is an eighth of what this test costs.
        if (answer !== text) expect(JSON.parse(answer), address).toEqual(JSON.parse(text));
      }
    }
    const looks = [...broken].map(async ([table, memory]) => {
      await memory.turn();
      const answers = await answersOf(memory);
      if (![...fresh].some(([address, text]) => answers.get(address) !== text)) return;
      caught.add(table);
      broken.delete(table);
    });
    await Promise.all(looks);
  };
  while (done.accounts < logs.accounts.length || done.transactions < logs.transactions.length) {
    for (const topic of ['accounts', 'transactions'] as const)
      if (done[topic] < logs[topic].length) await step(topic);
    await compare();
  }
  expect([...caught].sort()).toEqual([...DROPPED].sort());
});
