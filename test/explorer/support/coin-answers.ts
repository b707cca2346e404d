import type { Page, Route } from 'playwright-core';
import type { Figure } from '../../../schemas/figure.ts';
import type { ActivityResponse } from '../../../schemas/responses/coin/activity.ts';
import type { CoinResponse } from '../../../schemas/responses/coin/coin.ts';
import type { LoopResponse } from '../../../schemas/responses/coin/loop.ts';
import type { PositionsResponse } from '../../../schemas/responses/coin/positions.ts';
import type { CoinHistoryResponse } from '../../../schemas/responses/history.ts';
import { isApi } from './hostile-answers.ts';

/** Keys of a policy that is made up. */
export const MINT = 'Mint1111111111111111111111111111111111111111';
export const QUOTE = 'Quote111111111111111111111111111111111111111';
export const LOCAL = 'Loca1111111111111111111111111111111111111111';
export const REMOTE = 'Remote11111111111111111111111111111111111111';

/** When all of it was read. */
export const AT = '2026-11-24T05:00:00.000Z';

export const figureOf = (value: string | number, asOf = AT): Figure => ({ value, source: 'a test', asOf });

/** What the API answers about a policy. Each test has answers of its own, to change as it likes. */
export interface CoinAnswers {
  coin: CoinResponse;
  loop: LoopResponse;
  positions: PositionsResponse;
  activity: ActivityResponse;
  history: Pick<CoinHistoryResponse, 'items' | 'step' | 'localMaybeOfOtherAssets'>;
}

export function coinAnswers(): CoinAnswers {
  const balance = (kind: CoinResponse['pdaBalances'][number]['kind'], value: string) => ({
    ...{ kind, tokenAccount: `${kind}1111`, balance: figureOf(value), decimals: 6 },
  });
  const coin: CoinResponse = {
    ...{ mint: MINT, name: 'Copper Tiger', symbol: 'TIGER', imageUrl: null, metadataUri: null },
    ...{ metadataAsOf: null, quoteMint: QUOTE, feeKeyMint: MINT, lastIndexedSignature: null },
    quote: {
      ...{ symbol: 'USDX', name: 'Dollar', decimals: 6, symbolSource: 'a test', iconUrl: null },
      ...{ iconSource: null, priceUsd: '1', priceObservedAt: AT, priceSource: 'a test' },
    },
    updatedAt: AT,
    marketCap: {
      ...{ quote: figureOf('7000000'), usd: figureOf('7.5'), priceQuotePerBase: 1, pool: 'a pool' },
      poolStatus: 0,
    },
    ...{ authority: MINT, agent: null, guardian: MINT, mode: 'Passive' },
    origin: { pubkey: MINT, name: 'Launches', assetClassMask: 1, maxRisk: 50 },
    model: { id: 0, name: null, provider: null, enabled: null },
    feeSplit: { toLpBps: 2_000, toBankrollBps: 8_000 },
    profitSplit: { toLpBps: 1_000, toHoldersBps: 5_000, toBankrollBps: 4_000 },
    ...{ risk: 90, targetAsset: QUOTE, targetLeverageX: 2, locked: false, paused: false },
    ...{ protocolPaused: false, moneyPathsFrozen: false, hwm: figureOf('400000000') },
    counters: {
      ...{ feesClaimedQuote: figureOf('1'), protocolFees: figureOf('1'), routedToLp: figureOf('1250000') },
      ...{ routedToBankroll: figureOf('1'), profitSwept: figureOf('2000000') },
      ...{ paidToHolders: figureOf('1000000'), tokensBurned: figureOf('24470000000') },
      creditSpent: figureOf('1'),
    },
    venueAccounts: [
      {
        ...{ tokenAccount: LOCAL, kind: 'Local', assetClass: 1, assetMint: QUOTE, revoked: false },
        local: figureOf('4167000'),
      },
      {
        ...{ tokenAccount: REMOTE, kind: 'Remote', assetClass: 16, assetMint: QUOTE, revoked: false },
        ...{ remote: figureOf('100000000'), bridgedOut: figureOf('90000000') },
      },
    ],
    pdaBalances: [
      balance('bankroll', '300000000'),
      balance('quote_escrow', '5000000'),
      balance('base_escrow', '6000000'),
      balance('holder_rewards', '8000000'),
    ],
  };
  const loop: LoopResponse = {
    mint: MINT,
    step1_feesClaimed: { quoteLeg: figureOf('11000000'), baseLeg: figureOf('12000000') },
    step2_routed: {
      ...{ protocolCut: figureOf('1000000'), toLp: figureOf('2000000'), toBankroll: figureOf('3000000') },
    },
    step3_lpCompounded: {
      ...{ value: null, source: 'a test', asOf: null, absent: true },
      reason: 'Policy.routed_to_lp has it',
    },
    step4_deployed: {
      ...{
        local: figureOf('4167000'),
        remote: figureOf('100000000'),
        bankrollUnspent: figureOf('300000000'),
      },
    },
    step5_profit: {
      ...{ hwm: figureOf('400000000'), totalSwept: figureOf('2000000') },
      ...{ toHoldersStaged: figureOf('1500000'), toLpFromProfit: figureOf('500000') },
    },
    step6_buyback: { spent: figureOf('1000000'), burned: figureOf('13000000') },
    credit: { spent: figureOf('1000000'), returnPerCredit: figureOf('2.000000') },
  };
  const positions: PositionsResponse = {
    mint: MINT,
    positions: [
      {
        ...{ venueAccount: REMOTE, venueAccountPda: 'a place', assetClass: 16, assetMint: QUOTE },
        venue: 'perp_venue',
        onChainAttestation: { equity: figureOf('100000000'), ageSeconds: 27, stale: false },
        livePollerReading: {
          ...{ reachable: true, error: null, equity: figureOf('1'), notional: figureOf('2') },
        },
      },
    ],
  };
  const moment = (hour: number): CoinHistoryResponse['items'][number] => ({
    time: new Date(Date.parse(AT) + hour * 3_600_000).toISOString(),
    ...{ bankroll: figureOf('300000000'), deployed: figureOf('104167000') },
    ...{ attestedEquity: figureOf('100000000'), hwm: figureOf('400000000') },
    ...{ feesClaimed: figureOf('1'), profitSwept: figureOf('1'), tokensBurned: figureOf('1') },
    marketCap: { quote: figureOf('1'), usd: figureOf('1') },
  });
  const history = { step: 'hour' as const, items: [moment(-2), moment(-1), moment(0)] };
  const event = (at: number): ActivityResponse['items'][number] => ({
    ...{ kind: 'FeesClaimed', actor: 'keeper', summary: { quoteAmount: '1000000', baseAmount: '0' } },
    ...{ slot: String(1_000 - at), signature: `signature ${at}`, block_time: AT },
  });
  const items = Array.from({ length: 40 }, (_, at) => event(at));
  return {
    ...{ coin, loop, positions, history },
    activity: { mint: MINT, limit: 100, offset: 0, items },
  };
}

/**
 * From now on the API answers this about the policy, as `answers` are at the time of a request.
 * @param streams receives requests for streams: one opens when a test answers it
 */
export async function answerCoin(page: Page, answers: CoinAnswers, streams: Route[]): Promise<void> {
  const path = `/coins/${MINT}`;
  await page.route(isApi, (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname.startsWith('/stream/')) return void streams.push(route);
    const of: Record<string, unknown> = {
      ...{ [path]: answers.coin, [`${path}/loop`]: answers.loop, [`${path}/positions`]: answers.positions },
      ...{ [`${path}/activity`]: answers.activity, [`${path}/history`]: answers.history },
    };
    const answer = of[pathname];
    return answer === undefined
      ? route.fulfill({ status: 404, json: { error: 'not here' } })
      : route.fulfill({ json: answer });
  });
}
