import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { CoinHistoryItem } from '../../schemas/responses/history.ts';
import { awaited } from '../support/awaited.ts';
import { AT, answerCoin, type CoinAnswers, coinAnswers, figureOf, MINT } from './support/coin-answers.ts';
import { equityAt } from './support/drawn-figures.ts';
import { useExplorerAlone } from './support/explorer-alone.ts';
import { isApi } from './support/hostile-answers.ts';
import { CHROMIUM, picture } from './support/tab.ts';

const TEN_MINUTES_MS = 600_000;
const DAY_MS = 86_400_000;
const missing = CHROMIUM === undefined ? ': chromium is not installed' : '';

const momentAt = (time: string, bankroll: string): CoinHistoryItem => ({
  ...(coinAnswers().history.items[0] as CoinHistoryItem),
  ...{ time, bankroll: figureOf(bankroll) },
});

describe.skipIf(CHROMIUM === undefined)(`the equity chart${missing}`, () => {
  const explorer = useExplorerAlone();

  async function opened(
    answers: CoinAnswers,
    query = '',
    also: (page: Page) => Promise<unknown> = async () => {},
  ): Promise<Page> {
    const { page } = await explorer.another();
    await page.clock.install({ time: Date.parse(AT) + TEN_MINUTES_MS });
    await answerCoin(page, answers, []);
    await also(page);
    await page.goto(`/explorer/coins/${MINT}${query}`);
    await page.locator('ol.loop button.figure').first().waitFor();
    return page;
  }

  /** Answers with days where they are asked for or the span is long, else with hours, as the API does. */
  const answerPast = (days: CoinHistoryItem[] | null, hours: CoinHistoryItem[]) => (page: Page) =>
    page.route(isApi, (route) => {
      const { pathname, searchParams } = new URL(route.request().url());
      if (!pathname.endsWith('/history')) return route.fallback();
      const isLong = Date.parse(AT) - Date.parse(searchParams.get('from') ?? '') > 14 * DAY_MS;
      if (searchParams.get('step') !== 'day' && !isLong)
        return route.fulfill({ json: { step: 'hour', items: hours } });
      return days === null
        ? route.fulfill({ status: 500, json: { error: 'no days' } })
        : route.fulfill({ json: { step: 'day', items: days } });
    });

  test('over three months has the same recent hours as over a week, and days before them', async () => {
    const hours = [momentAt('2026-11-20T01:00:00.000Z', '2'), ...coinAnswers().history.items];
    const rowsOf = async (query: string, days: CoinHistoryItem[]) => {
      const page = await opened(coinAnswers(), query, answerPast(days, hours));
      await page.locator('.equity summary').click();
      await awaited(async () => expect(await page.locator('.equity tbody tr').count()).toBeGreaterThan(3));
      const times = await page.locator('.equity tbody th').allTextContents();
      return { page, ends: times.filter((time) => time.endsWith(':00:00')) };
    };
    const ended = hours.map(({ time }) => time.slice(0, 19).replace('T', ' ')).toReversed();
    expect((await rowsOf('', [])).ends).toEqual(ended);
    expect((await rowsOf('?range=quarter', [])).ends).toEqual(ended);
    const days = ['2026-11-16', '2026-11-17'].map((day) => momentAt(`${day}T00:00:00.000Z`, '1'));
    const { page, ends } = await rowsOf('?range=quarter', days);
    expect(ends).toEqual([...ended, '2026-11-17 00:00:00', '2026-11-16 00:00:00']);
    // Each panel links to the answer that has the value.
    expect((await equityAt(page, 0.05)).panel?.rows.API).toMatch(/&to=2026-11-17T00:00:00.000Z&step=day$/);
    expect((await equityAt(page, 0.9)).panel?.rows.API).toMatch(/from=2026-11-17T00:00:00.000Z$/);
  });

  test('over three months says why the past cannot be shown if the days are not answered', async () => {
    const answers = coinAnswers();
    const page = await opened(answers, '?range=quarter', answerPast(null, answers.history.items));
    await page.getByText('The past cannot be shown now: no days.').waitFor();
  });

  test('continues the last known value as a dotted line up to a column for now; a legend names both', async () => {
    const answers = coinAnswers();
    answers.loop.step4_deployed.bankrollUnspent = figureOf('150000000');
    const page = await opened(answers);
    // From three to ten past five, and beside it the column.
    await awaited(async () => {
      expect(await drawnShare(page, 0.05, 0.9)).toBeGreaterThan(0.99);
      const held = await drawnShare(page, 0.93, 0.99);
      expect(held).toBeGreaterThan(0.05);
      expect(held).toBeLessThan(0.7);
      expect(await drawnShare(page, 1.005, 1.01)).toBeGreaterThan(0.3);
    }, 200);
    const legend = await page.locator('.equity .legend').textContent();
    expect(legend).toContain('Known last, not looked at since');
    expect(legend).toContain('Column at the right: the newest');
    // The panel does not show an unknown value, dotted line or not; it shows the newest, in the column too.
    await awaited(async () => {
      const { panel } = await equityAt(page, 0.96);
      expect(panel).toMatchObject({ isAbsent: true, rows: { At: '2026-11-24 05:00:01 UTC' } });
      expect((await equityAt(page, 0.997)).panel?.value).toBe('254.167');
    }, 200);
    await picture(page, 'dotted-equity');
  });

  test('draws no ring where a dotted line begins, however short the known time before it', async () => {
    const answers = coinAnswers();
    const lost = { value: null, source: 'a test', asOf: null, absent: true as const, reason: 'not kept' };
    for (const moment of answers.history.items.slice(0, 2)) moment.bankroll = lost;
    answers.loop.step4_deployed.bankrollUnspent = figureOf('150000000');
    const page = await opened(answers);
    await awaited(async () => expect(await drawnShare(page, 0.94, 0.98)).toBeGreaterThan(0.05), 200);
    const first = Date.parse(answers.history.items[0]?.time ?? '');
    // The page may change between two looks at it.
    await awaited(async () => {
      const newest = await page.locator('.equity tbody th').first().textContent();
      const begin = (Date.parse(AT) - first) / (Date.parse(`${newest}Z`) - first);
      expect(await drawnShare(page, begin - 0.01, begin - 0.001)).toBe(0);
    }, 200);
  });

  test('has room for the longest amounts on its axis', async () => {
    const answers = coinAnswers();
    answers.coin.quote.decimals = 0;
    const most = figureOf('18446744073709551615');
    answers.loop.step4_deployed.bankrollUnspent = most;
    for (const moment of answers.history.items) moment.bankroll = most;
    const page = await opened(answers, '', (tab) =>
      tab.addInitScript(`{
        globalThis.amounts = [];
        const { fillText } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function (text, x, ...rest) {
          if (this.textAlign === 'right') amounts.push([text, x - this.measureText(text).width]);
          return fillText.call(this, text, x, ...rest);
        };
      }`),
    );
    await page.locator('.equity .cursor-area').waitFor();
    const amounts = await page.evaluate<[text: string, left: number][]>('amounts');
    expect(amounts.map(([text]) => text)).toContain('15,000.00Q');
    expect(amounts.filter(([, left]) => left < 0)).toEqual([]);
  });

  test('says that its picture could not be loaded, and draws it once it can be', async () => {
    let isGone = true;
    const page = await opened(coinAnswers(), '', (tab) =>
      tab.route(/charts-draw/, (route) =>
        isGone ? route.fulfill({ status: 404, json: { error: 'no such asset' } }) : route.continue(),
      ),
    );
    const said = page.locator('.equity').getByText('The picture could not be loaded');
    await said.waitFor();
    await page.locator('.equity summary').click();
    expect(await page.locator('.equity tbody tr').count()).toBeGreaterThan(3);
    isGone = false;
    await page.clock.fastForward(60_000);
    await page.locator('.equity canvas').waitFor();
    expect(await said.count()).toBe(0);
  });

  test('has no dotted line if the current value equals the one at the end of the last hour', async () => {
    const page = await opened(coinAnswers());
    await awaited(async () => expect(await drawnShare(page, 0.05, 0.99)).toBeGreaterThan(0.99), 200);
    expect(await page.locator('.equity .legend').textContent()).not.toContain('not looked at since');
  });
});

/** In what share of the chart's width, between two places, a line of the unspent money is drawn. */
const drawnShare = (page: Page, from: number, to: number): Promise<number> =>
  page.evaluate(`(() => {
    const canvas = document.querySelector('.equity canvas');
    const area = document.querySelector('.equity .cursor-area');
    if (canvas === null || area === null) return 0;
    const [left, width] = [parseFloat(area.style.left), canvas.clientWidth - 20 - parseFloat(area.style.left)];
    const colour = getComputedStyle(document.documentElement).getPropertyValue('--purse-bankroll').trim();
    const meant = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const [begin, end] = [${from}, ${to}].map((share) => Math.round((left + share * width) * devicePixelRatio));
    const { data } = copy.getImageData(begin, 0, end - begin, canvas.height);
    const isOfLine = (at) => data[at + 3] > 150 && meant.every((value, part) => Math.abs(data[at + part] - value) < 12);
    let drawn = 0;
    for (let x = 0; x < end - begin; x += 1)
      for (let y = 0; y < canvas.height; y += 1)
        if (isOfLine((y * (end - begin) + x) * 4)) {
          drawn += 1;
          break;
        }
    return drawn / (end - begin);
  })()`);
