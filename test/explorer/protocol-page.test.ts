import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { readAssets } from '../../api/explorer/assets.ts';
import { document } from '../../api/explorer/html.ts';
import type { Figure } from '../../schemas/figure.ts';
import type { AnalyticsResponse, RevenueDay } from '../../schemas/responses/analytics.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { SETTINGS } from '../api/support/api.ts';
import { useExplorerAlone } from './support/explorer-alone.ts';
import { isApi } from './support/hostile-answers.ts';
import { statusAt } from './support/status-answers.ts';
import { CHROMIUM, picture } from './support/tab.ts';

const missing = CHROMIUM === undefined ? ': chromium is not installed' : '';
const figureOf = (value: string): Figure => ({ value, source: 'a test', asOf: '2026-11-24T05:00:00.000Z' });

function analytics(): AnalyticsResponse {
  const counts = { policyCount: 1, agentPolicyCount: 1, passivePolicyCount: 0 };
  const sums = {
    ...{ feesClaimed: figureOf('1'), protocolFees: figureOf('2'), routedToLp: figureOf('3000000') },
    ...{ routedToBankroll: figureOf('4'), profitSwept: figureOf('5'), paidToHolders: figureOf('6') },
    creditSpent: figureOf('7'),
  };
  const quote = { quoteMint: 'quote', quoteSymbol: 'USDX', decimals: 6, policyCount: 1 };
  return {
    protocolTotals: {
      ...{ ...counts, lockedPolicyCount: 0, pausedPolicyCount: 0, byQuote: [{ ...quote, ...sums }] },
    },
    protocolConfig: {
      ...{ paused: false, protocolFeeBps: 500, maxBankrollBps: 9000, maxRemoteStaleness: '120' },
      ...{ maxDeviationBps: 2000, minRiskForClass: [0, 0, 0, 10, 80, 80, 0, 0] },
      ...{ launchpadProgram: 'launchpad', ammProgram: 'amm', source: 'a test', asOf: null },
    },
    bridgeFlow: { perVenue: [] },
    revenueByDayTimeSeries: [],
  };
}

describe.skipIf(CHROMIUM === undefined)(`the page of the protocol${missing}`, () => {
  const explorer = useExplorerAlone();

  async function opened(answer: AnalyticsResponse, status?: StatusResponse): Promise<Page> {
    const { page } = await explorer.another();
    const answers: Record<string, unknown> = { '/analytics': answer, '/status': status };
    await page.route(isApi, (route) => {
      const json = answers[new URL(route.request().url()).pathname];
      return json === undefined
        ? route.fulfill({ status: 404, json: { error: 'not here' } })
        : route.fulfill({ json });
    });
    await page.goto('/explorer/protocol');
    await page.getByRole('group', { name: 'Totals by quote asset' }).waitFor();
    return page;
  }

  test('calls what was put into pools “Liquidity compounded”, and no column “routed to liquidity”', async () => {
    const page = await opened(analytics());
    const heads = await page.locator('[aria-label="Totals by quote asset"] thead th').allTextContents();
    expect(heads.filter((head) => /liquidity/i.test(head))).toEqual(['Liquidity compounded']);
    await page.locator('[aria-label="Totals by quote asset"] button.figure', { hasText: /: 3$/ }).focus();
    await page.locator('.panel-name', { hasText: 'Liquidity compounded' }).waitFor();
    expect(await page.locator('.panel-meaning').textContent()).toMatch(/put into the pool of the token/);
  });

  test('shows why a keeper’s count is absent, and that not all is known of incomplete transactions', async () => {
    const status = statusAt(Date.now(), Date.now());
    const countAbsentReason = 'the time of an event is not known';
    status.keeper.last24h = [{ kind: 'Routed', count: null, countAbsentReason, lastAt: null }];
    const page = await opened(analytics(), status);
    const figures = page.locator('.indexer button.figure');
    await figures.filter({ hasText: 'in 24 hours' }).focus();
    await page.locator('.panel-name', { hasText: 'in 24 hours' }).waitFor();
    expect(await page.locator('.panel').textContent()).toContain(countAbsentReason);
    const incomplete = page.locator('.indexer dl.figures > div', { hasText: 'Incomplete transactions' });
    expect(await incomplete.locator('dd.second').textContent()).toBe('of which not all is known');
  });

  test('says that the launchpad and pool programs are the service’s settings while the chain’s are not read yet', async () => {
    const answer = analytics();
    const note = 'as set for this service, not read on chain yet';
    /** The programs whose row says so. */
    const noted = (page: Page) =>
      page.locator('dl.rows > div', { hasText: note }).locator('dt').allTextContents();
    expect(await noted(await opened(answer))).toEqual([]);
    Object.assign(answer.protocolConfig, {
      ...{ paused: null, protocolFeeBps: null, maxBankrollBps: null, maxRemoteStaleness: null },
      ...{ maxDeviationBps: null, minRiskForClass: null },
    });
    // The indexed program is this service's setting in any case.
    expect(await noted(await opened(answer))).toEqual(['Launchpad program', 'Pool program']);
  });

  /** Opened with four days: one of them is absent, one is zero, and between them is one without an event. */
  async function openedWithDays(): Promise<Page> {
    const answer = analytics();
    const reason = 'a transaction of this day cannot be read';
    const absent: Figure = { value: null, source: 'a test', asOf: null, absent: true, reason };
    const dayOf = (day: string, figure: Figure): RevenueDay => {
      const of = {
        ...{ routedToLp: figure, routedToBankroll: figure, protocolCut: figure },
        ...{ profitSwept: figure, spentOnBuybacks: figure },
      };
      return { day, ...of, byQuote: [{ quoteMint: 'quote', decimals: 6, ...of }] };
    };
    answer.revenueByDayTimeSeries = [
      dayOf('2026-11-20', figureOf('5000000')),
      dayOf('2026-11-21', absent),
      dayOf('2026-11-23', figureOf('0')),
      dayOf('2026-11-24', figureOf('4000000')),
    ];
    const page = await opened(answer);
    await page.locator('.small-chart .cursor-area').first().waitFor();
    return page;
  }
  /** Points at the middle of one of the five days of the first small chart. */
  async function pointAt(page: Page, day: number): Promise<void> {
    const area = page.locator('.small-chart .cursor-area').first();
    await area.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await area.boundingBox()) as NonNullable<
      Awaited<ReturnType<typeof area.boundingBox>>
    >;
    await page.mouse.move(x + (width * (day + 0.5)) / 5, y + height / 2);
  }

  test('marks a day that is absent, not one of zero, and says why below the chart', async () => {
    const page = await openedWithDays();
    const chart = page.locator('.small-chart').first();
    await chart.getByText('2026-11-21: a transaction of this day cannot be read').waitFor();
    expect(await chart.locator('.note').textContent()).toContain('not known, which is not zero');
    expect(await chart.locator('.hole').count()).toBe(1);
    // It lies where the pointer finds that day.
    const { x, width } = (await chart.locator('.hole').boundingBox()) as { x: number; width: number };
    const area = (await chart.locator('.cursor-area').boundingBox()) as { x: number; width: number };
    expect((x + width / 2 - area.x) / area.width).toBeCloseTo(1.5 / 5, 2);
    await picture(page, 'absent-day');
  });

  test('shows no number of another day if one points at a day without an event', async () => {
    const page = await openedWithDays();
    const panel = page.locator('.panel:not([hidden])');
    const cursor = page.locator('.small-chart .cursor').first();
    for (const [day, name] of [
      [0, '2026-11-20'],
      [1, '2026-11-21'],
      [3, '2026-11-23'],
    ] as const) {
      await pointAt(page, day);
      await panel.locator('.panel-name', { hasText: name }).waitFor();
      expect(await cursor.isVisible()).toBe(true);
    }
    await pointAt(page, 2);
    await panel.waitFor({ state: 'hidden' });
    expect(await cursor.isVisible()).toBe(false);
  });

  test('says for how long the stream has been connected', async () => {
    const status = statusAt(Date.now(), Date.now());
    status.indexer.stream.since = new Date(Date.now() - 600_000).toISOString();
    const page = await opened(analytics(), status);
    const stream = page.locator('.indexer dl.rows > div', { hasText: 'Stream' }).locator('dd');
    expect(await stream.textContent()).toMatch(/^connected for 10 min$/);
  });

  test('shows which program is indexed; if the chain is local, its header and that of the ranking say so', async () => {
    const page = await opened(analytics());
    const program = page.locator('dl.rows > div', { hasText: 'Indexed program' }).locator('.key');
    expect(await program.getAttribute('title')).toContain(SETTINGS.programId);
    expect(await page.locator('header', { hasText: 'Local chain' }).count()).toBe(0);
    await page.route('/explorer/', async (route) => {
      const told = document(readAssets(), 'Policies', { ...SETTINGS, service: 'a', isLocalChain: true });
      return route.fulfill({ contentType: 'text/html', body: told });
    });
    await page.goto('/explorer/');
    await page.locator('header .tag', { hasText: 'Local chain' }).waitFor();
    await page.getByRole('link', { name: 'Protocol' }).click();
    await page.locator('header .tag', { hasText: 'Local chain' }).waitFor();
  });

  test('draws what was sent to a venue against what is attested there, or says why they are not compared', async () => {
    const answer = analytics();
    const reason = 'the decimals of the summed assets differ';
    const venue = { accountCount: 2, bridgedOut: figureOf('90'), attestedEquity: figureOf('45') };
    const absentFor = (why: string) => ({
      ...{ value: null, source: 'a test', asOf: null, absent: true as const },
      reason: why,
    });
    const silent = '1 of 2 accounts have no attestation yet';
    answer.bridgeFlow.perVenue = [
      { ...venue, venue: 'alike', gap: figureOf('45') },
      { ...venue, venue: 'unlike', gap: absentFor(reason) },
      {
        ...{ ...venue, venue: 'silent', attestedEquity: absentFor(silent) },
        gap: absentFor(`attestedEquity is absent: ${silent}`),
      },
    ];
    const page = await opened(answer);
    const card = (name: string) =>
      page.locator('.venue', { has: page.getByRole('heading', { name, exact: true }) });
    expect(await card('alike').locator('.against i').count()).toBe(2);
    expect(await card('unlike').locator('.against i').count()).toBe(0);
    expect(await card('unlike').locator('.note').textContent()).toBe(`Not compared: ${reason}.`);
    // Without the API's field name, which the page does not use.
    expect(await card('silent').locator('.note').textContent()).toBe(`Not compared: ${silent}.`);
    expect(await card('alike').locator('.note').count()).toBe(0);
    expect(await page.locator('main').textContent()).not.toContain('only one against the other');
    // A sum of several assets' base units is not an amount, so it is not emphasised as one.
    const looks = (name: string) =>
      card(name)
        .locator('.pairs dd')
        .first()
        .evaluate((sum) => getComputedStyle(sum).fontWeight);
    expect(await Promise.all(['alike', 'unlike', 'silent'].map(looks))).toEqual(['560', '400', '400']);
    await picture(page, 'sent-to-venues');
  });
});
