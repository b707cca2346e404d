import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHandOver } from '../../../api/latest/feed.ts';
import { createMemory } from '../../../api/latest/memory.ts';
import type { View } from '../../../api/latest/view.ts';
import { rankingPage } from '../../../api/rankings/rankings.ts';
import { type Changes, noteRows } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import type { RankingRow } from '../../../schemas/responses/rankings.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { SETTINGS } from '../support/api.ts';
import {
  appliedRow,
  curveRow,
  eventRow,
  key,
  mintRow,
  policyRow,
  poolKey,
  poolRow,
  TIME,
  tokenAccountRow,
  totalsRow,
} from '../support/rows.ts';

let stored: Store;
beforeAll(async () => {
  stored = await embeddedDatabase();
  await stored.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
  await stored.insert('mints', [mintRow('usd', 6), mintRow('a', 6)]);
  await stored.insert('curve_configs', [curveRow()]);
  // In which slots the last 24 hours begin.
  const span = { kind: 'Routed', actor: 'keeper', log_partition: 0, event_count: '9' };
  await stored.insert('kind_spans', [{ ...span, span: '0', first_event: TIME, last_event: TIME }]);
  await stored.insert('policies', [policyRow('a', 'usd')]);
  await stored.insert('token_accounts', [tokenAccountRow(BANKROLL, '0')]);
});
afterAll(() => stored.close());

const BANKROLL = String(policyRow('a', 'usd').bankroll);
const shown = (view: View): RankingRow =>
  rankingPage(view, SETTINGS, new URLSearchParams({ quote: key('usd') })).items[0] as RankingRow;
let version = 10_000n;
const state = () => ({ slot: String(version), version: String(version << 64n) });

/** What is written with an amount, what answers about the policy show of it, and what its row of a ranking does. */
const WRITTEN: Record<
  string,
  { row(amount: string): object; own(view: View): unknown; ranked(row: RankingRow): unknown }
> = {
  policies: {
    row: (amount) => policyRow('a', 'usd', { profit_swept: amount, ...state() }),
    own: (view) => view.get('policy', String(policyRow('a', 'usd').address))?.profit_swept,
    ranked: ({ profit }) => profit.value,
  },
  token_accounts: {
    row: (amount) => tokenAccountRow(BANKROLL, amount, state()),
    own: (view) => view.get('tokenAccount', BANKROLL)?.amount,
    ranked: ({ bankroll }) => bankroll.value,
  },
  policy_totals: {
    row: (amount) => totalsRow('a', { routed: amount, log_offset: String(version) }),
    own: (view) => view.get('totals', key('a'))?.routed,
    ranked: ({ fees }) => fees.value,
  },
  mints: {
    row: (amount) => mintRow('a', 6, { name: amount, ...state() }),
    own: (view) => view.get('mint', key('a'))?.name,
    ranked: ({ mintName }) => mintName,
  },
  pools: {
    row: (amount) =>
      poolRow('a', 'usd', { supply: amount, virtual_base: '2', virtual_quote: '2', ...state() }),
    own: (view) => view.get('pool', poolKey('a', 'usd'))?.supply,
    ranked: ({ marketCap }) => marketCap.quote.value,
  },
  events: {
    row: (amount) => eventRow('a', 'Routed', Number(amount)),
    own: (view) => view.get('eventsOfDay', key('a'))?.row.count,
    ranked: ({ eventsLast24h }) => eventsLast24h.value,
  },
};

test.each(Object.keys(WRITTEN))(
  'a row of a ranking and its policy’s own answers are of one reading, also if %s are written again while a turn reads',
  async (table) => {
    const { row, own, ranked } = WRITTEN[table] as (typeof WRITTEN)[string];
    const write = async (amount: string): Promise<Changes> => {
      version += 1n;
      const [rows, changes] = [[row(amount)], new Map()];
      await stored.insert(table, rows);
      noteRows(changes, table, rows);
      return changes;
    };
    const from = new RegExp(`FROM ${table}\\b`);
    let reads: Promise<unknown>[] | null = null;
    const query: Store['query'] = async (sql, params) => {
      if (reads === null || !from.test(sql)) return stored.query(sql, params) as never;
      // What is read a second time is another state than what was read first.
      if (reads.length === 1) {
        await reads[0];
        await write('30');
      }
      const read = stored.query(sql, params);
      reads.push(read);
      return read as never;
    };
    const handOver = createHandOver();
    const { aside: _, ...store } = stored;
    const memory = createMemory({
      ...{ store: { ...store, query }, feed: handOver, maxBytes: 10_000_000, mostRanked: undefined },
      ...{ clock: () => (TIME + 60) * 1000, monotonic: () => performance.now() },
    });
    handOver.note(await write('10'));
    await memory.turn();
    await memory.read(shown);
    const before = (await memory.read(own)).value;
    reads = [];
    handOver.note(await write('20'));
    await memory.turn();
    const [later, of] = [(await memory.read(own)).value, (await memory.read(shown)).value];
    expect(String(later)).not.toBe(String(before));
    expect(String(ranked(of))).toBe(String(later));
  },
);
