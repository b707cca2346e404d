import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { Figure } from '../../schemas/figure.ts';
import {
  perShownSort,
  type RankingRow,
  type RankingsResponse,
  SORTS,
} from '../../schemas/responses/rankings.ts';
import { awaited } from '../support/awaited.ts';
import { useExplorerAlone } from './support/explorer-alone.ts';
import { isApi } from './support/hostile-answers.ts';
import { CHROMIUM, cutAmounts, DESKTOP, NARROWEST, overflow, PHONE, spilled } from './support/tab.ts';

const missing = CHROMIUM === undefined ? ': chromium is not installed' : '';
const ROWS = 40;
/** Wider than a phone, but without room for every column. */
const TABLET = { width: 1010, height: 800 };
/** Below each of these widths columns are dropped. */
const MOST_COLUMNS = [1181, 1061, 901, 721];
/** Least width of a policy's name with its picture. */
const NAME_WIDTH = 100;
/** A window of 1280 by 900 at four times its size. */
const MAGNIFIED = { width: 320, height: 225 };

const ORDINARY = { amount: '12345678', decimals: 6, usd: '1.5', name: 'Copper Tiger 3', symbol: 'TIGER3' };
type Look = typeof ORDINARY;
const EXTREMES: Look[] = [
  { ...ORDINARY, amount: '18446744073709551615', decimals: 0, usd: '98765432109876543210987.12' },
  { ...ORDINARY, amount: '7', decimals: 18, usd: '0.000000000000000000123' },
  { ...ORDINARY, amount: '340282366920938463463374607431768211455', usd: '999999.994' },
  { ...ORDINARY, name: 'x'.repeat(200), symbol: 'W'.repeat(40) },
  { ...ORDINARY, name: 'شركة الذهب الأسود للاستثمار', symbol: 'ذهب' },
];

/** Amounts that take the most letters. */
const LONGEST: Look[] = [
  { ...ORDINARY, amount: '708426490000', usd: '708426.49' },
  { ...ORDINARY, amount: '999999990000', usd: '999888777666555444333.99' },
  { ...ORDINARY, amount: '999888777666555444333', decimals: 0 },
];

const figureOf = (value: string): Figure => ({ value, source: 'a test', asOf: '2026-11-23T00:00:00.000Z' });

function rowOf(at: number, { amount, decimals, usd, name, symbol }: Look): RankingRow {
  const money = (value: string) => ({
    ...perShownSort(() => figureOf(value)),
    ...{ fees: figureOf(value), bankroll: figureOf(value) },
  });
  return {
    ...{ rank: at + 1, mint: `mint${at}`, mintName: name, mintSymbol: symbol, mintImageUrl: null },
    ...{ quoteMint: `quote${at}`, quoteSymbol: symbol, quoteSymbolSource: null, quoteDecimals: decimals },
    ...{ mode: 'Agent', origin: { id: 1, name: null }, risk: 1 },
    model: { id: 1, name: null, provider: null, enabled: null },
    ...{ locked: true, paused: true, createdAt: '2026-11-23T00:00:00.000Z' },
    ...money(amount),
    marketCap: { usd: figureOf(usd), quote: figureOf(amount) } as RankingRow['marketCap'],
    burned: figureOf(amount),
    usd: money(usd),
    eventsLast24h: figureOf('123456'),
  };
}

describe.skipIf(CHROMIUM === undefined)(`the page of rankings${missing}`, () => {
  const explorer = useExplorerAlone();

  /** A tab whose ranking rows look like these, in turn. */
  async function tabOf(looks: readonly Look[]): Promise<Page> {
    const tab = await explorer.another();
    await tab.page.route(isApi, (route) => {
      const { pathname, searchParams } = new URL(route.request().url());
      if (pathname === '/explorer/decimals') return route.fulfill({ json: {} });
      if (pathname !== '/rankings') return route.fulfill({ status: 404, json: { error: 'not here' } });
      const items = Array.from({ length: ROWS }, (_, at) => rowOf(at, looks[at % looks.length] as Look));
      const sort = searchParams.get('sort') ?? 'marketCap';
      const answer = {
        sort,
        order: searchParams.get('order') ?? 'desc',
        items,
        total: ROWS,
        offset: 0,
        hasMore: false,
      } as Partial<RankingsResponse>;
      return route.fulfill({ json: answer });
    });
    return tab.page;
  }
  const rows = (page: Page) => page.locator('table.ranking tbody tr');
  const opened = async (page: Page, path = '/explorer/') => {
    await page.goto(path);
    await rows(page).first().waitFor();
  };
  const edges = (page: Page) =>
    page.evaluate<number[]>(
      `[...document.querySelectorAll('table.ranking thead th')].map((head) => head.getBoundingClientRect().right)`,
    );

  test('has its columns in the same places whatever their content', async () => {
    const [usual, extreme] = [await tabOf([ORDINARY]), await tabOf(EXTREMES)];
    for (const size of [DESKTOP, TABLET]) {
      for (const page of [usual, extreme]) {
        await page.setViewportSize(size);
        await opened(page);
      }
      expect(await edges(extreme)).toEqual(await edges(usual));
    }
  });

  test('does not overflow with the largest and smallest numbers and the longest names', async () => {
    const page = await tabOf(EXTREMES);
    const found: string[] = [];
    for (const sort of SORTS) {
      await opened(page, `/explorer/?sort=${sort}`);
      for (const size of [DESKTOP, TABLET, PHONE, NARROWEST]) {
        await page.setViewportSize(size);
        const wide = await overflow(page);
        found.push(
          ...[...(await spilled(page)), ...(wide > 0 ? [`${wide} px`] : [])].map(
            (line) => `${sort} at ${size.width}: ${line}`,
          ),
        );
      }
    }
    expect(found).toEqual([]);
  });

  test('cuts off no amount, in the narrowest window or with letters twice as large', async () => {
    const page = await tabOf([...EXTREMES, ...LONGEST]);
    const found: string[] = [];
    for (const sort of SORTS) {
      await opened(page, `/explorer/?sort=${sort}`);
      await page.setViewportSize(NARROWEST);
      found.push(...(await cutAmounts(page)));
      await page.setViewportSize({ ...NARROWEST, width: 2 * NARROWEST.width });
      await page.evaluate("document.documentElement.style.fontSize = '30px'");
      found.push(...(await cutAmounts(page)));
    }
    expect(found).toEqual([]);
  });

  test('leaves room for policy names at the widths with the most columns', async () => {
    const page = await tabOf(EXTREMES);
    const room: Record<string, number> = {};
    for (const sort of SORTS) {
      await opened(page, `/explorer/?sort=${sort}`);
      for (const width of MOST_COLUMNS) {
        await page.setViewportSize({ ...TABLET, width });
        room[`${sort} at ${width}`] = await page.evaluate<number>(
          "document.querySelector('table.ranking tbody th').getBoundingClientRect().width",
        );
      }
    }
    expect(Object.entries(room).filter(([, width]) => width < NAME_WIDTH)).toEqual([]);
  });

  test('calls the bankroll “unspent” in the column’s head, in its panel and in the sorts', async () => {
    const page = await tabOf([ORDINARY]);
    await opened(page, '/explorer/?sort=bankroll');
    expect(await page.locator('thead th[data-ranks="true"]').textContent()).toBe('Unspent');
    await rows(page).first().locator('td[data-ranks="true"] button.figure').first().focus();
    await page.locator('.panel-name', { hasText: 'Bankroll, unspent' }).waitFor();
    expect(await page.locator('.sorts [aria-pressed="true"]').textContent()).toMatch(/^\s*Unspent/);
  });

  test('says when it is ranked by a value without a column, and marks no column as ranked', async () => {
    const page = await tabOf([ORDINARY]);
    const note = page.locator('p.note', { hasText: 'Ranked by' });
    for (const [asked, of] of [
      ['', 'in US dollars'],
      ['&quote=quote1', 'in its quote asset'],
    ] as const) {
      await opened(page, `/explorer/?sort=burned${asked}`);
      expect(await note.textContent()).toContain(`spent on buying the token back, ${of}`);
      expect(await note.textContent()).toContain('no column has it');
    }
    expect(await page.locator('.sorts [aria-pressed="true"]').textContent()).toMatch(/^\s*Buybacks/);
    const head = page.locator('thead th', { hasText: 'Burned' });
    expect(await head.isVisible()).toBe(true);
    expect(await head.getAttribute('aria-sort')).toBeNull();
    expect(await head.evaluate((cell) => getComputedStyle(cell).fontWeight)).toBe('400');
  });

  test('can be ranked by its column heads as by the sorts above, and the ranked head has the direction', async () => {
    const page = await tabOf([ORDINARY]);
    await opened(page);
    const head = (name: string) => page.locator('thead th', { hasText: name });
    const isRanked = (name: string, way: string) =>
      awaited(async () => {
        expect(await head(name).getAttribute('aria-sort')).toBe(way);
        expect(await page.locator('thead th[aria-sort]').count()).toBe(1);
        expect(await page.locator('.sorts [aria-pressed="true"]').textContent()).toContain(name);
      }, 50);
    await isRanked('Market cap', 'descending');
    await page.getByRole('columnheader', { name: 'Profit swept' }).getByRole('button').click();
    await page.waitForURL('**/explorer/?sort=profit');
    await isRanked('Profit swept', 'descending');
    await page.getByRole('columnheader', { name: 'Profit swept' }).getByRole('button').press('Enter');
    await page.waitForURL('**/explorer/?sort=profit&order=asc');
    await isRanked('Profit swept', 'ascending');
    // A sort without a column is only in the line above the table.
    expect(await head('Burned').getByRole('button').count()).toBe(0);
  });

  test('keeps the keyboard’s place in the table after sorting by a head, and goes to the first row of a next page', async () => {
    const page = await tabOf([ORDINARY]);
    await page.route(/\/rankings\?/, async (route) => {
      const { searchParams } = new URL(route.request().url());
      const items = Array.from({ length: 5 }, (_, at) => rowOf(at, ORDINARY));
      const [sort, offset] = [
        searchParams.get('sort') ?? 'marketCap',
        Number(searchParams.get('offset') ?? 0),
      ];
      return route.fulfill({
        json: { sort, order: 'desc', items, total: 100, offset, hasMore: offset < 50 },
      });
    });
    await opened(page);
    const place = () =>
      page.evaluate("document.activeElement.closest('th, .pages')?.textContent ?? 'nowhere'");
    await page.getByRole('columnheader', { name: 'Profit swept' }).getByRole('button').press('Enter');
    await page.locator('table.ranking[data-sort="profit"]').waitFor();
    await awaited(async () => expect(await place()).toBe('Profit swept'), 50);
    await page.getByRole('button', { name: 'Next' }).press('Enter');
    await page.getByText('51 to 55 of 100').waitFor();
    await awaited(async () => expect(await place()).toContain('Copper Tiger'), 50);
    expect(await page.evaluate("document.querySelector('a.row-link') === document.activeElement")).toBe(true);
  });

  test('says that there are fewer policies if the address asks for a later page than there is', async () => {
    const page = await tabOf([ORDINARY]);
    await page.route(/\/rankings\?.*offset=500/, (route) =>
      route.fulfill({
        json: { sort: 'marketCap', order: 'desc', items: [], total: 6, offset: 500, hasMore: false },
      }),
    );
    await page.goto('/explorer/?offset=500');
    await page.getByText('No policy so far down').waitFor();
    expect(await page.locator('main').textContent()).not.toContain('Take a filter away');
    await page.getByRole('link', { name: 'The first page' }).click();
    await rows(page).first().waitFor();
    expect(new URL(page.url()).search).toBe('');
  });

  test('has filters of equal width at every window width', async () => {
    const page = await tabOf([ORDINARY]);
    await opened(page);
    for (const width of [1440, 1180, 1101, 1100, 1024, 900, 721, 720, 375]) {
      await page.setViewportSize({ width, height: 800 });
      const widths = await page.evaluate<number[]>(
        "[...document.querySelectorAll('.choice')].map((one) => Math.round(one.getBoundingClientRect().width))",
      );
      expect(Math.max(...widths) - Math.min(...widths), `at ${width}`).toBeLessThanOrEqual(1);
    }
  });

  test('restores its scroll position on the way back from a policy', async () => {
    const page = await tabOf([ORDINARY]);
    await opened(page);
    const top = () => page.evaluate<number>('scrollY');
    await page.mouse.wheel(0, 900);
    await awaited(async () => expect(await page.evaluate('history.state?.top')).toBe(await top()), 50);
    const was = await top();
    expect(was).toBeGreaterThan(500);
    await rows(page).nth(20).locator('a.row-link').click();
    await page.getByRole('heading', { name: 'No policy here' }).waitFor();
    expect(await top()).toBe(0);
    await page.goBack();
    await awaited(async () => expect(await top()).toBe(was), 50);
  });

  test('fits a figure’s panel into a very low window, and the keyboard alone reaches its API link', async () => {
    const page = await tabOf([ORDINARY]);
    await page.setViewportSize(MAGNIFIED);
    await opened(page);
    const figure = rows(page).first().locator('td[data-ranks="true"] button.figure').first();
    const panel = page.locator('.panel');
    await figure.focus();
    await panel.locator('.panel-name').waitFor();
    const { y = -1, height = 0 } = (await panel.boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y + height).toBeLessThanOrEqual(MAGNIFIED.height);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.pathname')).toBe('/rankings');
    expect(await panel.locator('.panel-name').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await page.evaluate("document.activeElement.matches('td button.figure')")).toBe(true);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
  });

  test('is printed with its rows, without filters and in light colours', async () => {
    const page = await tabOf([ORDINARY]);
    await opened(page);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.locator('.filters').isVisible()).toBe(false);
    expect(await rows(page).last().isVisible()).toBe(true);
    expect(
      await page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')"),
    ).toBe('#fafaf8');
  });
});
