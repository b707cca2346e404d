import { expect, test } from 'vitest';
import type { AnalyticsResponse } from '../../schemas/responses/analytics.ts';
import type { ProtocolHistoryResponse } from '../../schemas/responses/history.ts';
import type { RankingsResponse } from '../../schemas/responses/rankings.ts';
import type { QuotesResponse } from '../../schemas/responses/registries.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { NOW } from './support/api.ts';
import { appliedRow, eventRow, gapRow, key, policyRow, venueAccountRow } from './support/rows.ts';
import { useApi } from './support/use-api.ts';

const held = useApi();
const get = async <T>(path: string) => (await held.api.get<T>(path)).body;

let told = 0;
/** Writes what ingestion says about its stream. */
const tell = (listed: number | null, listed_slot: string | null = null, lag_ms = '0') => {
  told += 1;
  const [read_at, since] = [String(NOW - 1_000 + told), String(NOW - 60_000)];
  const row = { read_at, connected: 1, since, reason: null, addresses: 9, over_rpc: 0, lag_ms };
  return held.api.insert('stream_state', [{ ...row, listed, listed_slot }]);
};

const pair = { symbol: 'USD', name: 'Dollar', decimals: 6, category: 'currency', logo_url: null };
const pairs = [{ mint: key('usd'), ...pair, launchable: 1, launchpad_ready: 1 }];

/** Everything that counts or sums over all policies: the values, and the reasons of those that have none. */
async function allTold() {
  const { protocolTotals, bridgeFlow } = await get<AnalyticsResponse>('/analytics');
  const { total, totalAbsentReason, items } = await get<RankingsResponse>('/rankings');
  const past = (await get<ProtocolHistoryResponse>('/analytics/history')).items.at(-1)?.byQuote[0];
  const { keeper, attestor } = await get<StatusResponse>('/status');
  const [quote] = (await get<QuotesResponse>('/quotes')).items;
  const { countsAbsentReason, byQuote, ...counts } = protocolTotals;
  const [{ policyCount, quoteMint: _, quoteSymbol: __, decimals: ___, ...sums }] = byQuote as [
    (typeof byQuote)[number],
  ];
  const [venue] = bridgeFlow.perVenue;
  const figures = [
    ...Object.values(sums),
    ...[venue?.bridgedOut, venue?.attestedEquity, venue?.gap],
    ...[
      past?.bankroll,
      past?.deployed,
      past?.attestedEquity,
      past?.hwm,
      past?.feesClaimed,
      past?.profitSwept,
    ],
    keeper.unroutedFeeBacklogPolicyCount,
    ...attestor.perVenue,
  ];
  return {
    counts: [
      ...Object.values(counts),
      policyCount,
      venue?.accountCount,
      total,
      past?.policyCount,
      quote?.policyCount,
    ],
    present: figures.filter((figure) => figure?.absent !== true).length,
    reasons: new Set([countsAbsentReason, totalAbsentReason, ...figures.map((figure) => figure?.reason)]),
    rows: items.length,
  };
}

test('counts and sums over all policies are absent until all are proved known; lists show the known ones', async () => {
  await held.api.insert('applied', [appliedRow('transactions', 0)]);
  await held.api.insert('policies', [policyRow('a', 'usd'), policyRow('b', 'usd')]);
  await held.api.insert('catalogue', [{ read_at: String(NOW), rows: pairs }]);
  await held.api.insert('gaps', [gapRow('999')]);
  // Before ingestion has written anything, nothing proves it either.
  expect(new Set((await allTold()).counts)).toEqual(new Set([null]));
  await tell(1);
  expect((await allTold()).counts).toEqual([2, 0, 2, 0, 0, 2, 0, 2, 2, 2]);
  await tell(0);
  const unknown = await allTold();
  expect(new Set(unknown.counts)).toEqual(new Set([null]));
  expect([unknown.present, unknown.rows]).toEqual([0, 2]);
  expect([...unknown.reasons]).toEqual([
    expect.stringMatching(
      /^no list of the program's accounts \(getProgramAccounts\) was proved whole, and history is not/,
    ),
  ]);
});

test('an account list that was proved whole counts once every partition has applied its slot', async () => {
  const applied = (partition: number, slot: string, change: object = {}) =>
    held.api.insert('applied', [
      { ...appliedRow('accounts', partition), slot, log_offset: slot, ...change },
      { ...appliedRow('transactions', partition), slot, log_offset: slot, ...change },
    ]);
  await applied(0, '2000');
  await applied(1, '1000');
  await held.api.insert('policies', [policyRow('a', 'usd'), policyRow('b', 'usd')]);
  await held.api.insert('catalogue', [{ read_at: String(NOW), rows: pairs }]);
  await held.api.insert('gaps', [gapRow('999')]);
  await tell(1, '1501');
  const waiting = await allTold();
  expect(new Set(waiting.counts)).toEqual(new Set([null]));
  expect([waiting.present, waiting.rows]).toEqual([0, 2]);
  expect([...waiting.reasons]).toEqual([
    expect.stringMatching(
      /^the list of the program's accounts that was proved whole is here once the index has come to slot 1501, and history is not/,
    ),
  ]);
  await applied(1, '1500');
  expect(new Set((await allTold()).counts)).toEqual(new Set([null]));
  await applied(1, '1501');
  expect((await allTold()).counts).toEqual([2, 0, 2, 0, 0, 2, 0, 2, 2, 2]);
  // A later list changes nothing, and rows of older versions have no slot of the list.
  await tell(1, '1501');
  expect((await allTold()).counts[0]).toBe(2);
  await tell(1);
  expect((await allTold()).counts[0]).toBe(2);
  // For an old log only the slot shows that the list is in the index.
  await tell(1, '1501', '30001');
  expect((await allTold()).counts[0]).toBe(2);
  for (const listed of [1, null]) {
    await tell(listed, null, '30001');
    const late = await allTold();
    expect(new Set(late.counts)).toEqual(new Set([null]));
    expect([...late.reasons]).toEqual([
      expect.stringMatching(/^no list .* was proved whole, and history is not/),
    ]);
    await tell(listed, null, '30000');
    expect((await allTold()).counts[0]).toBe(2);
  }
});

test('counts are present if history is complete and every account that it names was read', async () => {
  const registered = { summary: JSON.stringify({ tokenAccount: key('spot') }) };
  await held.api.insert('applied', [appliedRow('transactions', 0)]);
  await held.api.insert('policies', [policyRow('a', 'usd')]);
  await held.api.insert('catalogue', [{ read_at: String(NOW), rows: pairs }]);
  await held.api.insert('events', [
    eventRow('a', 'PolicyInitialised', 0),
    // An event of the protocol, and not of a policy.
    eventRow('', 'ProtocolPauseSet', 2, { policy: '', mint: '' }),
    eventRow('b', 'VenueRegistered', 1, registered),
  ]);
  const { policy } = eventRow('b', '', 0);
  await held.api.insert('named_accounts', [
    ...['a', 'b'].map((mint) => ({
      policy: eventRow(mint, '', 0).policy,
      token_account: '',
      mint: key(mint),
    })),
    { policy, token_account: key('spot'), mint: key('b') },
  ]);
  await tell(0);
  const reason = async () => [...(await allTold()).reasons][0];
  expect(await reason()).toMatch(/, and 2 of those that history names are not read yet, or do not decode$/);
  await held.api.insert('policies', [policyRow('b', 'usd')]);
  expect(await reason()).toMatch(/, and 1 of those/);
  await held.api.insert('venue_accounts', [venueAccountRow('b', 'spot')]);
  expect((await allTold()).counts.slice(0, 3)).toEqual([2, 0, 2]);
});

test('a stream report without word of the account list, as older versions wrote it, counts as proof', async () => {
  await held.api.insert('applied', [appliedRow('transactions', 0)]);
  await held.api.insert('policies', [policyRow('a', 'usd')]);
  await held.api.insert('gaps', [gapRow('999')]);
  await tell(null);
  expect((await get<AnalyticsResponse>('/analytics')).protocolTotals.policyCount).toBe(1);
});
