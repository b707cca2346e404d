import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReadDeps } from '../../../api/deps/read-deps.ts';
import { printedParts } from '../../../api/http/answers/printed.ts';
import type { SharedRoute } from '../../../api/http/route.ts';
import { createHandOver, createTableFeed, type Feed } from '../../../api/latest/feed.ts';
import { createMemory, type Memory } from '../../../api/latest/memory.ts';
import { readRoutes } from '../../../api/routes.ts';
import { CHANGE_KEYS, type ChangedTable } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { createChain } from '../../../devnet/chain/chain.ts';
import { createLife } from '../../../devnet/life/life.ts';
import { createRandom } from '../../../devnet/program/state/random.ts';
import { type LogEntry, TOPICS, type Topic } from '../../../ingest/log/port.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import type { AccountRecord, GapRecord, LogRecord, TransactionRecord } from '../../../schemas/records.ts';
import { SORTS } from '../../../schemas/responses/rankings.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { policyAddress, policyTokenAccounts } from '../../../schemas/solana/pda.ts';
import { batchOf, logOf } from '../../ingest/materialise/support/records.ts';
import { recordsOf } from '../../ingest/support/ledger-records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { SETTINGS } from '../support/api.ts';
import {
  type Batches,
  claimsSince,
  firstPrices,
  type LastChanges,
  LEFT_OUT,
  lastChanges,
  type Stage,
  stageOf,
} from './support/last-changes.ts';

const SEED = process.env.SEED ?? 'changes-1';
const GENESIS = Date.UTC(2026, 0, 1, 23, 50);
const SLOT_MS = 400;
const MIDNIGHT_SLOT = BigInt((10 * 60_000) / SLOT_MS);
const SLOTS = 30;

let store: Store;
let chain: ReturnType<typeof createChain>;
/** The log up to its end, which is delivered separately. */
let logs: Record<'accounts' | 'transactions', LogEntry[]>;
let last: ReturnType<typeof lastChanges>;
let now: number;
let routes: SharedRoute[];

beforeAll(async () => {
  chain = createChain({ dir: null, seed: SEED, genesisTime: GENESIS });
  const life = createLife(chain, { seed: SEED, policies: 5, rate: 4, metadataBase: 'http://127.0.0.1:1' });
  const live = async (isEnough: (slots: number) => boolean) => {
    for (let slots = 0; slots < SLOTS || !isEnough(slots); slots += 1) await chain.produce(life.next());
  };
  await live(() => stageOf(chain) !== null);
  const quiet = chain.tip().slot + 10n;
  chain.skipTo(MIDNIGHT_SLOT + 10n);
  await live(() => true);
  const { slot: before } = chain.tip();
  await live(() => stageOf(chain) !== null && claimsSince(chain, before).length > 0);
  now = chain.timeOf(chain.tip().slot) * 1000 + 60_000;
  const stage = stageOf(chain) as Stage;
  const { accounts, transactions } = recordsOf(chain);
  const isLate = (record: LogRecord): record is TransactionRecord =>
    record.kind === 'transaction' && encodeBase58(record.signature) === stage.event;
  const isNewest = (record: LogRecord) => 'slot' in record && (record.slot ?? 0n) > before;
  const early = transactions.filter((record) => !isLate(record) && !isNewest(record));
  logs = { accounts: logOf([...accounts, closing(accounts)]), transactions: logOf(withGap(early)) };
  last = lastChanges({
    ...{ chain, stage, quiet, readAt: now - 1_000 },
    ...{ newest: transactions.filter(isNewest), late: transactions.find(isLate) as TransactionRecord },
  });
  store = await embeddedDatabase('several');
  const deps: ReadDeps = {
    latest: null as never,
    settings: { ...SETTINGS, programId: chain.programId },
    readPosts: null,
  };
  routes = readRoutes(deps).filter((route) => route.cached);
});
afterAll(() => store.close());

/** Closes a policy's bankroll account one slot after its last write. */
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

/** Adds a gap, so that history is incomplete over a stretch of the log. */
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
  return createMemory({ store, feed, clock: () => now, monotonic, maxBytes: 10_000_000 });
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

/** Which answers are asked for; the last also asks for rankings in each order. */
type Asked = LastChanges['in'] | 'all, and all orders';

/** The shared answers as text, by path; asked at once, so that what memory lacks is read together. */
async function answersOf(memory: Memory, asked: Asked = 'all, and all orders'): Promise<Map<string, string>> {
  const mints = [...chain.state().policies.values()].map(({ mint }) => mint);
  const isAsked = ({ path }: SharedRoute) =>
    asked === 'all, and all orders' || path.endsWith('/history') === (asked === 'histories');
  const questions = routes.filter(isAsked).flatMap((route) => {
    const sorts = route.path === '/rankings' && asked !== 'others' ? SORTS : [SORTS[0]];
    const ofMints = route.path.includes(':mint') ? mints : [''];
    return ofMints.flatMap((mint) => sorts.map((sort) => ({ route, mint, query: `sort=${sort}` })));
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

/** Whether two answers differ, however they are printed. */
const differ = (one: string, other: string) =>
  // Equal texts need not be parsed: that saves an eighth of this test's time.
  one !== other && !isDeepStrictEqual(JSON.parse(one), JSON.parse(other));

test(`answers updated by changes equal answers read anew, and differ if one table is not reported (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const programId = decodeKey(chain.programId) as Uint8Array;
  const handOver = createHandOver();
  const fromTable = () => createTableFeed(store, () => performance.now(), Date.now);
  const told = [memoryOf(handOver), memoryOf(fromTable())];
  const materialise = createMaterialiser({
    store,
    programId,
    onChanged: handOver.note,
    onApplied: handOver.applied,
  });
  const again = createMaterialiser({ store, programId, recomputeByOwner: async () => {} });
  const done: Record<Topic, number> = { accounts: 0, transactions: 0, readings: 0, 'dead-letters': 0 };
  const step = async (topic: keyof typeof logs) => {
    const log = logs[topic];
    const from = done[topic];
    const to = Math.min(log.length, from + random.int(1, Math.ceil(log.length / 3)));
    await materialise(batchOf(topic, log.slice(from, to)));
    done[topic] = to;
    // Delivered again, as to a process that has lost the partition.
    if (from > 0 && random.int(0, 3) === 0)
      await again(batchOf(topic, log.slice(random.int(0, from - 1), from)));
  };
  const compare = async () => {
    const fresh = await answersOf(memoryOf(fromTable()));
    for (const memory of told) {
      await memory.turn();
      const answers = await answersOf(memory);
      for (const [address, text] of fresh) {
        const answer = answers.get(address) ?? 'null';
        if (differ(answer, text)) expect(JSON.parse(answer), address).toEqual(JSON.parse(text));
      }
    }
    return fresh;
  };
  const deliver = async (batches: Batches) => {
    for (const topic of TOPICS) {
      const entries = logOf(batches[topic] ?? [], BigInt(done[topic]));
      if (entries.length > 0) await materialise(batchOf(topic, entries));
      done[topic] += entries.length;
    }
  };
  await deliver({ readings: firstPrices(chain, now - 2_000) });
  while (done.accounts < logs.accounts.length || done.transactions < logs.transactions.length) {
    for (const topic of ['accounts', 'transactions'] as const)
      if (done[topic] < logs[topic].length) await step(topic);
    await compare();
  }
  await deliver(last.before);
  await compare();
  const unseen = new Set(Object.keys(CHANGE_KEYS).filter((table) => !Object.hasOwn(LEFT_OUT, table)));
  for (const { tables, in: where, ...batches } of last.changes) {
    // Each memory has read everything before the change of which it is not notified.
    const deaf = tables.map((table) => ({ table, memory: memoryOf(without(table, fromTable())) }));
    await Promise.all(deaf.map(({ memory }) => answersOf(memory, where)));
    await deliver(batches);
    const fresh = await compare();
    const look = async ({ table, memory }: (typeof deaf)[number]) => {
      await memory.turn();
      const answers = await answersOf(memory, where);
      if ([...answers].some(([address, text]) => differ(text, fresh.get(address) ?? 'null')))
        unseen.delete(table);
    };
    await Promise.all(deaf.map(look));
  }
  expect([...unseen], 'tables of which nobody sees that a change is not told').toEqual([]);
});
