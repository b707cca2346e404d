import { openEmbedded, type Store } from '../../clickhouse/client.ts';
import { migrate } from '../../clickhouse/schema/migrate.ts';
import {
  columnNames,
  POLICY_COLUMNS,
  QUOTE_COLUMNS,
  selected,
} from '../../ingest/materialise/rollups/summed-columns.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { policyAddress, poolAddress } from '../../schemas/solana/pda.ts';
import {
  appliedRow,
  configRow,
  curveRow,
  key,
  LAUNCHPAD,
  mintRow,
  modelRow,
  originRow,
  PROGRAM,
  policyRow,
  poolRow,
  rawKey,
  streamRow,
  tokenAccountRow,
  totalsRow,
  venueAccountRow,
} from '../../test/api/support/rows.ts';

type Row = Record<string, unknown>;

/** How many quote assets the policies are spread over. */
export const QUOTES = 40;
export const DATABASE = 'bankroll';
const POLICIES_AT_ONCE = 2_000;

export const nameOf = (at: number): string => `policy ${at}`;
export const mintOf = (at: number): string => key(nameOf(at));
const quoteOf = (at: number): string => `quote ${at % QUOTES}`;

/** Rows that all policies' rows are copied from; keys and amounts are replaced. */
const templates = {
  policy: policyRow('template', 'quote 0'),
  pool: poolRow('template', 'quote 0'),
  venue: venueAccountRow('template', 'account'),
  totals: totalsRow('template'),
};

/** Derived addresses by policy number, kept: deriving takes longer than the rest, and each side needs the same. */
const addresses = new Map<number, { address: string; pool: string }>();

function derived(at: number): { address: string; pool: string } {
  const known = addresses.get(at);
  if (known !== undefined) return known;
  const [mint, quote] = [rawKey(nameOf(at)), rawKey(quoteOf(at))];
  const made = {
    address: encodeBase58(policyAddress(PROGRAM, mint)),
    pool: encodeBase58(poolAddress(LAUNCHPAD, mint, quote)),
  };
  addresses.set(at, made);
  return made;
}

/** The rows of one policy, by table. */
export function rowsOf(at: number): Record<string, Row[]> {
  const [name, quote] = [nameOf(at), quoteOf(at)];
  const { address, pool } = derived(at);
  const [bankroll, escrow, base, rewards] = ['bankroll', 'escrow', 'base', 'rewards'].map((of) =>
    key(`${of} of ${name}`),
  ) as [string, string, string, string];
  const amount = String(1_000_000 + ((at * 7_919) % 1_000_003) * 1_000);
  const mint = key(name);
  const ofPolicy = { mint, quote_mint: key(quote), mode: at % 3 === 0 ? 'Agent' : 'Passive' };
  const accounts = { bankroll, quote_escrow: escrow, base_escrow: base, holder_rewards: rewards };
  const sums = { fees_claimed: amount, profit_swept: amount, paid_to_holders: amount };
  return {
    policies: [{ ...templates.policy, address, ...ofPolicy, ...accounts, ...sums, created_at: String(at) }],
    token_accounts: [bankroll, escrow, base, rewards].map((account) => tokenAccountRow(account, amount)),
    mints: [mintRow(name, 6, { name: `Policy ${at}`, symbol: `P${at}`, uri: '' })],
    pools: [
      { ...templates.pool, address: pool, base_mint: mint, quote_mint: key(quote), virtual_quote: amount },
    ],
    venue_accounts: [
      {
        ...templates.venue,
        address: key(`venue of ${name}`),
        policy: address,
        token_account: key(`at ${name}`),
      },
    ],
    venue_accounts_by_policy: [{ policy: address, address: key(`venue of ${name}`) }],
    policy_totals: [{ ...templates.totals, mint, routed: amount }],
  };
}

/** Writes the latest state of so many policies, and the rows that all of them share. */
export async function fill(store: Store, policies: number): Promise<void> {
  const quotes = Array.from({ length: QUOTES }, (_, at) => quoteOf(at));
  await store.insert(
    'mints',
    quotes.map((quote, at) => mintRow(quote, 6, { name: quote, symbol: `Q${at}`, uri: '' })),
  );
  const price = { source: 'catalogue', read_at: String(Date.now()), observed_at: new Date().toISOString() };
  await store.insert(
    'prices',
    quotes.map((quote, at) => ({ ...price, mint: key(quote), usd: String(1 + at / 8) })),
  );
  await store.insert('curve_configs', [curveRow()]);
  await store.insert('protocol_config', [configRow()]);
  await store.insert('origins', [originRow(1, 'stocks-only')]);
  await store.insert('models', [modelRow(7, 'seven')]);
  for (let start = 0; start < policies; start += POLICIES_AT_ONCE) {
    const tables = new Map<string, Row[]>();
    for (let at = start; at < Math.min(start + POLICIES_AT_ONCE, policies); at += 1)
      for (const [table, rows] of Object.entries(rowsOf(at)))
        tables.set(table, [...(tables.get(table) ?? []), ...rows]);
    for (const [table, rows] of tables) await store.insert(table, rows);
  }
  // As ingestion writes it once a list was proved whole: else each answer asks which named accounts were never read.
  await store.insert('stream_state', [streamRow(Date.now())]);
  await store.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
}

/** Events of successive slots, 30 a slot, spread over at most 300 policies; made by the engine. */
async function fillEvents(store: Store, policies: number, events: number): Promise<void> {
  const mints = Array.from({ length: Math.min(policies, 300) }, (_, at) => mintOf(at));
  const addresses = mints.map((_, at) => derived(at).address);
  for (let from = 0; from < events; from += EVENTS_AT_ONCE) {
    const count = Math.min(EVENTS_AT_ONCE, events - from);
    await store.command(EVENTS, { mints, from, count, now: Math.floor(Date.now() / 1000), events });
    await store.command(TRANSACTIONS, { addresses, from, count });
  }
  await store.command(KINDS);
  // Sums as the materialiser writes them with the last of the events.
  await store.command(TOTALS, { offset: events });
  const quotes = Array.from({ length: QUOTES }, (_, at) => key(quoteOf(at)));
  await store.command(DAYS, { quotes, days: DAYS_OF_REVENUE });
}

/** Makes a store of so many policies and events in a directory, and closes it. */
export async function prepare(
  directory: string,
  { policies, events }: { policies: number; events: number },
): Promise<void> {
  // No timeout: sums over 50 million events take a minute on a busy machine.
  const store = await openEmbedded(directory, DATABASE, Number.POSITIVE_INFINITY);
  await migrate(store, null);
  await fill(store, policies);
  await fillEvents(store, policies, events);
  await store.close();
}

/** Three years. */
const DAYS_OF_REVENUE = 1_095;

const EVENTS_AT_ONCE = 500_000;
const EVENTS = `
INSERT INTO events
SELECT 'policy', {mints:Array(String)}[n % length({mints:Array(String)}) + 1], 'quote', intDiv(n, 30) AS slot,
  toString(cityHash64(n)), 0, toUInt32(n % 30), 1, {now:Int64} - intDiv(({events:UInt64} - n) * 2, 150),
  ['FeesClaimed', 'Routed', 'ProfitSwept', 'BuybackBurned', 'PassiveDeployed'][n % 5 + 1], 'keeper', '{"amount":"1"}',
  n, n, n, n, 0
FROM (SELECT number + {from:UInt64} AS n FROM numbers({count:UInt64}))`;
/** One transaction for each event. */
const TRANSACTIONS = `
INSERT INTO policy_transactions
SELECT {addresses:Array(String)}[n % length({addresses:Array(String)}) + 1], intDiv(n, 30), toString(cityHash64(n)),
  toUInt32(n % 30), 1, NULL
FROM (SELECT number + {from:UInt64} AS n FROM numbers({count:UInt64}))`;
const KINDS = `
INSERT INTO kind_spans
SELECT intDiv(slot, 512) AS span, kind, actor, log_partition, 0, count(), min(block_time), max(block_time)
FROM events_by_slot GROUP BY span, kind, actor, log_partition`;

const TOTALS = `
INSERT INTO policy_totals (mint, log_partition, log_offset, ${columnNames(POLICY_COLUMNS)})
SELECT e.mint, e.log_partition, {offset:UInt64}, ${selected(POLICY_COLUMNS, 'ofFacts')}
FROM events_by_slot AS e GROUP BY e.mint, e.log_partition`;
const DAYS = `
INSERT INTO quote_days (day, quote_mint, log_partition, log_offset, ${columnNames(QUOTE_COLUMNS)})
SELECT today() - intDiv(n, length({quotes:Array(String)})), {quotes:Array(String)}[n % length({quotes:Array(String)}) + 1],
  0, 1, n, n, n, n, n, 1, toUnixTimestamp(now()) - intDiv(n, length({quotes:Array(String)})) * 86400
FROM (SELECT number AS n FROM numbers({days:UInt64} * length({quotes:Array(String)})))`;
