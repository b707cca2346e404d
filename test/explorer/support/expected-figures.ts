import type { Figure } from '../../../schemas/figure.ts';
import type { AnalyticsResponse, RevenueDay } from '../../../schemas/responses/analytics.ts';
import type { CoinResponse } from '../../../schemas/responses/coin/coin.ts';
import type { LoopResponse } from '../../../schemas/responses/coin/loop.ts';
import type { PositionsResponse } from '../../../schemas/responses/coin/positions.ts';
import type { RankingsResponse, ShownSort } from '../../../schemas/responses/rankings.ts';
import type { OriginsResponse, QuotesResponse } from '../../../schemas/responses/registries.ts';
import type { StatusResponse } from '../../../schemas/responses/status.ts';
import type { Answers } from './drawn-figures.ts';
import type { Expected } from './drawn-text.ts';

/** What a page should draw, by its place: `scope|name`. */
export type ExpectedFigures = Map<string, Expected>;

type Line = readonly [place: string, figure: Expected['figure'], reading: Expected['reading'] | null];

/** Where decimals are not known, base units are shown. */
const byPlace = (lines: readonly Line[]): ExpectedFigures =>
  new Map(lines.map(([place, figure, reading]) => [place, { figure, reading: reading ?? 'base' }]));

const answerOf = <T>(answers: Answers, path: RegExp): T =>
  answers.get([...answers.keys()].find((asked) => path.test(asked)) ?? '') as T;

const bare = (value: unknown, source: string): Expected['figure'] => ({ value, source });

/** What the column of a sort is called. */
const SHOWN: Record<ShownSort, string> = { profit: 'Profit swept' };

export function ofRankings(answers: Answers): ExpectedFigures {
  const { items } = answerOf<RankingsResponse>(answers, /^\/rankings\?/);
  const decimals: Record<string, number | null> = {};
  for (const [asked, told] of answers)
    if (asked.startsWith('/explorer/decimals')) Object.assign(decimals, told);
  return byPlace(
    items.flatMap((row): Line[] => {
      const at = (name: string) => `/explorer/coins/${row.mint}|${name}`;
      const { marketCap, usd, quoteDecimals: quote } = row;
      return [
        ...(marketCap.usd.absent && marketCap.quote.absent
          ? []
          : [[at('Market cap'), marketCap.usd, 'usd'] as const]),
        [at('Market cap, in the quote asset'), marketCap.quote, quote],
        ...(Object.entries(SHOWN) as [ShownSort, string][]).flatMap(([sort, name]): Line[] => [
          [at(name), row[sort], quote],
          [at(`${name}, in US dollars`), usd[sort], 'usd'],
        ]),
        [at('Fees routed'), row.fees, quote],
        [at('Fees routed, in US dollars'), usd.fees, 'usd'],
        [at('Tokens burned'), row.burned, decimals[row.mint] ?? null],
        [at('Bankroll, unspent'), row.bankroll, quote],
        [at('Bankroll, unspent, in US dollars'), usd.bankroll, 'usd'],
        [at('Events in 24 hours'), row.eventsLast24h, 'count'],
      ];
    }),
  );
}

/** The bits 32 and 16 of an origin: options, and no perps. */
const isOfOptions = ({ origin }: CoinResponse): boolean => ((origin.assetClassMask ?? 0) & 48) === 32;

export function ofCoin(answers: Answers): ExpectedFigures {
  const coin = answerOf<CoinResponse>(answers, /^\/coins\/\w+$/);
  const loop = answerOf<LoopResponse>(answers, /^\/coins\/\w+\/loop$/);
  const { positions } = answerOf<PositionsResponse>(answers, /^\/coins\/\w+\/positions$/);
  const quote = coin.quote.decimals;
  const balance = (kind: string) => coin.pdaBalances.find((of) => of.kind === kind);
  const own = balance('base_escrow');
  const base = own?.decimals ?? null;
  const { marketCap, counters, feeSplit, profitSplit, hwm } = coin;
  const isUnknown = marketCap.usd.absent && marketCap.quote.absent;
  const [escrow, rewards, bankroll] = ['quote_escrow', 'holder_rewards', 'bankroll'].map(
    (kind) => balance(kind)?.balance as Figure,
  ) as [Figure, Figure, Figure];
  const term = (value: unknown) => ({ value, source: hwm.source, asOf: hwm.asOf });
  const { step1_feesClaimed: claimed, step2_routed: routed } = loop;
  const held = { ...loop.step4_deployed, local: localOf(loop.step4_deployed) };
  const { step5_profit: profit, step6_buyback: buyback, credit } = loop;
  return byPlace([
    ...(isUnknown
      ? [['|Market cap', marketCap.quote, quote] as const]
      : [
          ['|Market cap', marketCap.usd, 'usd'] as const,
          ['|Market cap, in the quote asset', marketCap.quote, quote] as const,
        ]),
    ['|Bankroll, unspent', held.bankrollUnspent, quote],
    ['|Profit swept', counters.profitSwept, quote],
    ['|High water mark', hwm, quote],
    ['|Tokens burned', counters.tokensBurned, base],
    ['|Spent on buying back', counters.paidToHolders, quote],
    ['|Fees claimed: In the quote asset', claimed.quoteLeg, quote],
    ['|Fees claimed: In its own token', claimed.baseLeg, base],
    ['|Fees claimed: Not routed yet', escrow, quote],
    ['|Routed: Bankroll', routed.toBankroll, quote],
    ['|Routed: Liquidity', routed.toLp, quote],
    ['|Routed: Protocol', routed.protocolCut, quote],
    ['|Held now: At work on chain', held.local, quote],
    ['|Held now: At venues, attested', held.remote, quote],
    ['|Held now: Unspent', held.bankrollUnspent, quote],
    ['|Equity', sumOf([held.bankrollUnspent, held.local, held.remote]), quote],
    ['Profit|High water mark', profit.hwm, quote],
    ['|Profit: Buybacks', profit.toHoldersStaged, quote],
    ['|Profit: Liquidity', profit.toLpFromProfit, quote],
    ['|Bought back, burned: Spent', buyback.spent, quote],
    ['|Bought back, burned: Burned', buyback.burned, base],
    ['|Bought back, burned: Not spent yet', rewards, quote],
    ['|Liquidity compounded', counters.routedToLp, quote],
    ['|Inference paid for', credit.spent, quote],
    ['|Profit for each unit of inference', credit.returnPerCredit, 'count'],
    ['|Quote escrow', escrow, quote],
    ['|Holder rewards', rewards, quote],
    ['|Bankroll', bankroll, quote],
    ['|Base escrow', own?.balance as Figure, base],
    ['|Fees, to bankroll', term(feeSplit.toBankrollBps), 'share'],
    ['|Fees, to liquidity', term(feeSplit.toLpBps), 'share'],
    ['|Profit, to buybacks', term(profitSplit.toHoldersBps), 'share'],
    ['|Profit, to liquidity', term(profitSplit.toLpBps), 'share'],
    ['|Profit, to bankroll', term(profitSplit.toBankrollBps), 'share'],
    ['|Risk', term(coin.risk), 'count'],
    [isOfOptions(coin) ? '|Moneyness' : '|Leverage', term(coin.targetLeverageX), 'count'],
    ['|Price of the quote asset, in US dollars', priceOf(coin), 'count'],
    ...coin.venueAccounts.flatMap((account): Line[] => {
      const at = (name: string) => `${account.tokenAccount}|${name}`;
      const asset =
        account.assetMint === coin.quoteMint ? quote : account.assetMint === coin.mint ? base : null;
      const live = positions.find(
        ({ venueAccount }) => venueAccount === account.tokenAccount,
      )?.livePollerReading;
      if (account.kind === 'Local') return [[at('Balance'), account.local, asset]];
      return [
        [at('Bridged out'), account.bridgedOut, asset],
        [at('Attested equity'), account.remote, asset],
        ...(live === undefined
          ? []
          : 'reachable' in live
            ? [
                [at('Equity, as the venue says'), live.equity, asset] as const,
                [at('Notional, as the venue says'), live.notional, asset] as const,
              ]
            : [[at('Equity, as the venue says'), live, asset] as const]),
      ];
    }),
  ]);
}

/** A sum with balances of another asset is not an amount of the quote asset: it is absent. */
function localOf({ local, localOfOtherAssets: others }: LoopResponse['step4_deployed']): Figure {
  if (others === undefined || local.absent) return local;
  const reason = `account ${others[0]} holds another asset than the quote`;
  return { ...local, value: null, absent: true, reason };
}

/** Adds figures as the page has to: the sum is absent as soon as a part is. */
function sumOf(parts: Figure[]): Expected['figure'] {
  const missing = parts.find(({ absent }) => absent);
  if (missing !== undefined) return missing;
  return { value: parts.reduce((sum, { value }) => sum + BigInt(value ?? 0), 0n), source: 'computed' };
}

const priceOf = ({ quote }: CoinResponse): Expected['figure'] =>
  quote.priceUsd === null
    ? { value: null, source: 'prices', absent: true, reason: quote.priceAbsentReason ?? '' }
    : { value: quote.priceUsd, source: quote.priceSource ?? '', asOf: quote.priceObservedAt };

const DAY: readonly (readonly [name: string, figure: Exclude<keyof RevenueDay, 'day' | 'byQuote'>])[] = [
  ['Routed to bankrolls', 'routedToBankroll'],
  ['Routed to liquidity', 'routedToLp'],
  ['Protocol’s cut', 'protocolCut'],
  ['Profit above the mark', 'profitSwept'],
  ['Spent on buybacks', 'spentOnBuybacks'],
];
const TOTALS = [
  ['Fees claimed', 'feesClaimed'],
  ['Protocol’s cut', 'protocolFees'],
  ['Liquidity compounded', 'routedToLp'],
  ['To bankrolls', 'routedToBankroll'],
  ['Profit swept', 'profitSwept'],
  ['Spent on buybacks', 'paidToHolders'],
  ['Inference', 'creditSpent'],
] as const;

/** @param chosen the quote asset whose days are drawn */
export function ofProtocol(answers: Answers, chosen: string): ExpectedFigures {
  const analytics = answerOf<AnalyticsResponse>(answers, /^\/analytics$/);
  const status = answerOf<StatusResponse>(answers, /^\/status$/);
  const { protocolTotals: totals, protocolConfig: config } = analytics;
  const counted = (value: number | null): Expected['figure'] => {
    const figure = bare(value, 'chain:Policy accounts, counted');
    return value === null ? { ...figure, absent: true, reason: totals.countsAbsentReason ?? '' } : figure;
  };
  const last = analytics.revenueByDayTimeSeries.at(-1);
  const today = last?.byQuote.find(({ quoteMint }) => quoteMint === chosen);
  const set = (value: unknown) => ({ value, source: config.source, asOf: config.asOf });
  return byPlace([
    ['|Policies', counted(totals.policyCount), 'count'],
    ['|Policies run by an agent', counted(totals.agentPolicyCount), 'count'],
    ['|Policies that follow a fixed rule', counted(totals.passivePolicyCount), 'count'],
    ['|Locked policies', counted(totals.lockedPolicyCount), 'count'],
    ['|Paused policies', counted(totals.pausedPolicyCount), 'count'],
    ...(last === undefined
      ? []
      : DAY.flatMap(([name, figure]): Line[] => {
          // A day without anything is shown in words, with no number; one that may lack something is shown as absent.
          if (today === undefined && !last[figure].absent) return [];
          return [[`|${name}, ${last.day}`, (today ?? last)[figure], today?.decimals ?? null]];
        })),
    ...totals.byQuote.flatMap((row): Line[] => {
      const at = (name: string) => `/explorer/?quote=${row.quoteMint}|${name}`;
      return [
        [at('Policies'), counted(row.policyCount), 'count'],
        ...TOTALS.map(([name, figure]) => [at(name), row[figure], row.decimals] as const),
      ];
    }),
    ...analytics.bridgeFlow.perVenue.flatMap((venue): Line[] => [
      // Where accounts are not counted, the page says so in words.
      ...(venue.accountCount === null
        ? []
        : [
            [
              `${venue.venue}|Venue accounts`,
              bare(venue.accountCount, 'chain:VenueAccount accounts, counted'),
              'count',
            ] as const,
          ]),
      [`${venue.venue}|Sent out`, venue.bridgedOut, null],
      [`${venue.venue}|Attested equity`, venue.attestedEquity, null],
      [`${venue.venue}|Sent out and not attested`, venue.gap, null],
    ]),
    ['|Incomplete transactions', status.indexer.incompleteTransactions, 'count'],
    ['|Dead letters', status.indexer.deadLetters, 'count'],
    ['|Policies with fees to route', status.keeper.unroutedFeeBacklogPolicyCount, 'count'],
    ...status.attestor.perVenue.map(
      (venue) => [`|Age of the newest attestation of ${venue.venue}`, venue, 'age'] as const,
    ),
    ...Object.entries(status.venues).flatMap(([name, venue]) =>
      'programId' in venue ? [] : [[`|Age of the last reading of ${name}`, venue, 'age'] as const],
    ),
    ['|Protocol’s cut of what is routed', set(config.protocolFeeBps), 'share'],
    ['|Most that may go to a bankroll', set(config.maxBankrollBps), 'share'],
    ['|Attestation may jump by', set(config.maxDeviationBps), 'share'],
  ]);
}

export function ofRegistries(answers: Answers): ExpectedFigures {
  const origins = answerOf<OriginsResponse>(answers, /^\/origins$/);
  const quotes = answerOf<QuotesResponse>(answers, /^\/quotes$/);
  const dollars = (value: number | null) =>
    value === null
      ? { value, source: quotes.source, absent: true, reason: 'the catalogue has no reading of it' }
      : bare(value, quotes.source);
  return byPlace([
    ...origins.items.map(
      ({ id, name, max_risk: risk }) =>
        [`/explorer/?origin=${id}|Highest risk in ${name}`, bare(risk, origins.source), 'count'] as const,
    ),
    ...quotes.items.flatMap((row): Line[] => [
      [`${row.mint}|Decimals`, bare(row.decimals, quotes.source), 'count'],
      [`${row.mint}|Market cap at the start`, dollars(row.startMarketCapUsd), 'usd'],
      [`${row.mint}|Market cap at graduation`, dollars(row.graduationMarketCapUsd), 'usd'],
    ]),
  ]);
}
