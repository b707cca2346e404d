import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { AnalyticsResponse } from '../../schemas/responses/analytics.ts';
import type { CoinResponse } from '../../schemas/responses/coin/coin.ts';
import type { PostsResponse } from '../../schemas/responses/coin/posts.ts';
import type { CoinHistoryResponse } from '../../schemas/responses/history.ts';
import type { RankingsResponse } from '../../schemas/responses/rankings.ts';
import { awaited } from '../support/awaited.ts';
import { type Answers, drawnFigures, equityAt, freeze } from './support/drawn-figures.ts';
import { differences, type Expected } from './support/drawn-text.ts';
import { ofCoin, ofProtocol, ofRankings, ofRegistries } from './support/expected-figures.ts';
import {
  answerOnly,
  emptyRankings,
  forgetPast,
  harm,
  hostileAddresses,
  isApi,
  lengthenActivity,
  loseStore,
  makeHostile,
  multiplyPosts,
} from './support/hostile-answers.ts';
import { type Running, startRunning } from './support/running.ts';
import {
  CHROMIUM,
  closeTab,
  DESKTOP,
  drawings,
  isCutOff,
  NARROWEST,
  openBrowser,
  openTab,
  overflow,
  PHONE,
  picture,
  reaches,
  spilled,
  type Tab,
  violations,
} from './support/tab.ts';

const missing = CHROMIUM === undefined ? ': chromium is not installed' : '';
if (missing !== '' && process.env.CI === 'true') throw new Error('chromium is not there; CI installs it');

/** Each chart of the protocol, and the colour of what it draws. */
const CHARTS = {
  'Equity of all policies': '--purse-bankroll',
  'Routed to bankrolls': '--purse-bankroll',
  'Routed to liquidity': '--purse-lp',
  'Protocol’s cut': '--purse-protocol',
  'Profit above the mark': '--purse-local',
  'Spent on buybacks': '--purse-holders',
};

/** Pixels of a chart's colour: a bar has far more; letters and axes are in other colours. */
const LEAST_PIXELS = 100;

/** A fresh system should know more hours than this of its chain's two days. */
const A_PAST = 6;

/** A ranking of which the decimals of every token have to be asked for. */
const BURNED = '/explorer/?sort=burned';

/** A page's main content: it must be there after three answers at most, that of /status among them. */
const USEFUL: Record<string, string> = {
  rankings: 'table.ranking tbody tr button.figure',
  burned: 'table.ranking tbody:not(:has(.burned .quiet)) .burned button.figure',
  policy: 'ol.loop button.figure',
  protocol: '.small-chart button.figure',
  registries: 'section:first-of-type tbody tr',
};
const MOST_REQUESTS = 3;
const LONG = 10_000;
/** A number of posts of one moment, and a name such as many launches have. */
const MANY = 45;
const LONG_NAME = 'Copper Ledger Night 33';
/** The longest text of an event that two lines of a phone hold. */
const LONG_EVENT = '371.2947 USDX: 245.82 USDX to buybacks, 103.2093 USDX to liquidity';
/** Most rows in the page: far more than are visible, far fewer than the list has. */
const MOST_ROWS = 60;
/** Longer than any page waits before it asks again. */
const A_MINUTE_MS = 60_000;
/** Numbers on pages that are not figures of the API. */
const ALSO_DRAWN = /, in 24 hours$|^Behind the chain|^Least risk|^Attestation is stale/;
/** A key that no token has. */
const NO_POLICY = '11111111111111111111111111111111';

/** The answer while an account that events name was not read yet: counts are absent. */
function uncounted(answer: AnalyticsResponse): AnalyticsResponse {
  const { protocolTotals: totals, bridgeFlow } = answer;
  const none = { policyCount: null };
  return {
    ...answer,
    protocolTotals: {
      ...{ ...totals, ...none, agentPolicyCount: null, passivePolicyCount: null },
      ...{ lockedPolicyCount: null, pausedPolicyCount: null, countsAbsentReason: 'one is not read yet' },
      byQuote: totals.byQuote.map((row) => ({ ...row, ...none })),
    },
    bridgeFlow: { perVenue: bridgeFlow.perVenue.map((venue) => ({ ...venue, accountCount: null })) },
  };
}

describe.skipIf(CHROMIUM === undefined)(`the explorer in a browser${missing}`, () => {
  let running: Running;
  let browser: Browser;
  let tab: Tab;
  let page: Page;
  let pages: Record<string, string>;

  beforeAll(async () => {
    [running, browser] = await Promise.all([startRunning(), openBrowser()]);
    tab = await openTab(browser, running.url);
    page = tab.page;
    pages = {
      ...{ rankings: '/explorer/', policy: `/explorer/coins/${running.speaker}` },
      ...{ protocol: '/explorer/protocol', registries: '/explorer/registries' },
    };
  });
  afterAll(async () => {
    await browser?.close();
    await running?.stop();
  });

  /** Opens a page and waits until everything it asked for is there. */
  const open = async (path: string, on = page) => {
    await on.goto(path);
    await on.locator('main > *').first().waitFor();
    await on.locator('.skeleton').first().waitFor({ state: 'detached' });
  };
  const another = async () => {
    const opened = await openTab(browser, running.url);
    onTestFinished(() => closeTab(opened));
    return opened;
  };
  /** Charts are drawn anew for another width. */
  const fits = (path: string, found: string[]) =>
    awaited(async () => expect(await overflow(page)).toBe(0), 200).catch(async () =>
      found.push(`${path} at ${page.viewportSize()?.width}: ${await overflow(page)} pixels too wide`),
    );
  /** Checks that the page's numbers are exactly these. */
  const drawn = (on: Page, expected: () => ReadonlyMap<string, Expected>) =>
    awaited(async () => {
      const numbers = (await drawnFigures(on)).filter(({ name }) => !ALSO_DRAWN.test(name));
      expect(numbers.length).toBeGreaterThan(0);
      expect(differences(numbers, expected())).toEqual([]);
    }, 200);
  const mode = () => page.getByRole('combobox', { name: 'Mode', exact: true });
  const rows = () => page.locator('table.ranking tbody tr');

  test('leads from the ranking to a policy and to the source of a figure', async () => {
    await open('/explorer/');
    await page.locator(`a.row-link[href$="${running.mint}"]`).click();
    await page.waitForURL(`**/explorer/coins/${running.mint}`);
    const panel = page.locator('.panel');
    await page.locator('dl.figures button.figure', { hasText: 'Profit swept' }).focus();
    await panel.locator('.panel-name', { hasText: 'Profit swept' }).waitFor();
    const { counters } = (await (await fetch(`${running.url}/coins/${running.mint}`)).json()) as CoinResponse;
    expect(await panel.locator('dd.source').textContent()).toBe(counters.profitSwept.source);
    expect(await panel.textContent()).toMatch(/base units, \d+ decimals.*As of.*UTC/);
    expect(await panel.getByRole('link').getAttribute('href')).toBe(`/coins/${running.mint}`);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
  });

  test('is where a browser that opens / is sent to', async () => {
    await page.goto('/');
    await page.waitForURL('**/explorer/');
    await rows().first().waitFor();
  });

  test('a new event and a new post appear without a reload', async () => {
    await open(`/explorer/coins/${running.mint}`);
    await page.evaluate('globalThis.neverReloaded = true');
    await page.getByText('it grows as they happen').waitFor();
    const known = Number(await page.locator('.activity li').first().getAttribute('aria-setsize'));
    const text = `Nothing to do yet: event ${known} changed nothing.`;
    await running.agent.post({ kind: 'update', text });
    await page.locator('.post-text', { hasText: text }).waitFor();
    await page.locator(`.activity li[aria-setsize]:not([aria-setsize="${known}"])`).first().waitFor();
    expect(Number(await page.locator('.activity li').first().getAttribute('aria-setsize'))).toBeGreaterThan(
      known,
    );
    expect(await page.evaluate('globalThis.neverReloaded')).toBe(true);
  });

  test('the equity chart shows the past, and a pin where the agent posted', async () => {
    await open(`/explorer/coins/${running.speaker}`);
    await awaited(async () => {
      const past = await fetch(`${running.url}/coins/${running.speaker}/history`);
      const { items } = (await past.json()) as CoinHistoryResponse;
      expect(items.filter(({ bankroll }) => !bankroll.absent).length).toBeGreaterThan(A_PAST);
    }, 200);
    const pin = page.locator('.pins button.pin').first();
    await pin.waitFor();
    await awaited(async () => {
      const [equity] = await drawings(page, { Equity: '--purse-bankroll' });
      expect(equity).toMatchObject({ name: 'Equity', hasAmounts: true });
      expect(equity?.pixels).toBeGreaterThan(LEAST_PIXELS);
    }, 200);
    // Readings over RPC may leave hours in the middle unknown, but not the newest.
    let share = 0.5;
    await awaited(async () => {
      const { panel, row } = await equityAt(page, share);
      share = share > 0.9 ? 0.5 : share + 0.07;
      expect(panel).toMatchObject({ name: 'Equity', isAbsent: false });
      expect([panel?.value, ...Object.values(panel?.rows ?? {})]).toEqual(expect.arrayContaining(row));
      expect(panel?.value).toBe(row[0]);
    }, 200);
    await pin.focus();
    const { posts } = (await (
      await fetch(`${running.url}/coins/${running.speaker}/posts?limit=100`)
    ).json()) as PostsResponse;
    const said = await page.locator('.panel').textContent();
    expect(posts.some(({ text }) => said?.includes(text))).toBe(true);
  });

  test('an unknown moment of the past is shown as absent, with its time and reason', async () => {
    const { page: other } = await another();
    await forgetPast(other, 'nobody wrote it down');
    await open(`/explorer/coins/${running.speaker}`, other);
    await awaited(async () => {
      const [early, late] = [await equityAt(other, 0.3), await equityAt(other, 0.7)];
      for (const { panel, row } of [early, late]) {
        const At = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
        expect(panel).toMatchObject({ isAbsent: true, rows: { At, Why: 'nobody wrote it down' } });
        expect(row[0]).toMatch(/absent$/);
      }
      expect(String(early.panel?.rows.At) < String(late.panel?.rows.At)).toBe(true);
    }, 200);
  });

  test('posts too close for separate pins share one with their number, whose panel lies within the window', async () => {
    const { page: posted } = await another();
    await multiplyPosts(posted, MANY);
    await open(`/explorer/coins/${running.speaker}`, posted);
    const pin = posted.locator('.pins button.pin').last();
    await awaited(async () => expect((await pin.textContent())?.trim()).toBe(String(MANY)), 200);
    expect(await isCutOff(posted, '.pins li:last-child .pin')).toBe(false);
    await pin.focus();
    expect(await reaches(posted, '.panel')).toBe(0);
  });

  test('a chart of the protocol page draws something exactly if it has amounts', async () => {
    await open('/explorer/protocol');
    await page.locator('.small-chart').first().waitFor();
    // A chart whose numbers have changed is drawn anew.
    await awaited(async () => {
      const drawn = await drawings(page, CHARTS);
      expect(drawn.map(({ name }) => name)).toEqual(Object.keys(CHARTS));
      expect(drawn.filter(({ hasAmounts }) => hasAmounts)).not.toEqual([]);
      expect(drawn.filter(({ hasAmounts, pixels }) => hasAmounts !== pixels > LEAST_PIXELS)).toEqual([]);
    }, 200);
  });

  test('every number is the API’s, truncated and never rounded up, with its base units, source and time', async () => {
    const { page: still } = await another();
    const { items } = (await (await fetch(`${running.url}/rankings`)).json()) as RankingsResponse;
    const [quote = ''] = items.map(({ quoteMint }) => quoteMint);
    const numbersOf: Record<string, (answers: Answers) => ReadonlyMap<string, Expected>> = {
      '/explorer/': ofRankings,
      ...Object.fromEntries(items.map(({ mint }) => [`/explorer/coins/${mint}`, ofCoin])),
      [`/explorer/protocol?quote=${quote}`]: (answers) => ofProtocol(answers, quote),
      '/explorer/registries': ofRegistries,
    };
    const found: string[] = [];
    for (const [path, expectedOf] of Object.entries(numbersOf)) {
      await still.unrouteAll({ behavior: 'ignoreErrors' });
      await still.goto('about:blank');
      const answers = await freeze(still);
      await open(path, still);
      await drawn(still, () => expectedOf(answers)).catch((error: Error) =>
        found.push(`${path}: ${error.message}`),
      );
    }
    expect(found).toEqual([]);
  });

  test('counts that are null in the API are shown as absent with the reason, or in words', async () => {
    const { page: still } = await another();
    const [quote = ''] = (
      (await (await fetch(`${running.url}/rankings`)).json()) as RankingsResponse
    ).items.map(({ quoteMint }) => quoteMint);
    const answers = await freeze(still, (path, answer) =>
      path === '/analytics' ? uncounted(answer as AnalyticsResponse) : answer,
    );
    await open(`/explorer/protocol?quote=${quote}`, still);
    await drawn(still, () => ofProtocol(answers, quote));
    await still.getByText('accounts, not all of them known').first().waitFor();
  });

  test('filters and sorts are kept in the URL, and survive a reload and going back', async () => {
    await open('/explorer/');
    await mode().selectOption('Agent');
    await page.getByRole('group', { name: 'Rank by' }).getByRole('button', { name: 'Profit' }).click();
    await page.waitForURL('**/explorer/?mode=Agent&sort=profit');
    const stands = async () => {
      await page.locator('table.ranking[data-sort="profit"]').waitFor();
      expect(await mode().inputValue()).toBe('Agent');
      expect(await page.locator('.sorts [aria-pressed="true"]').textContent()).toMatch(/^\s*Profit/);
      const modes = await rows().locator('.tags .tag:first-child').allTextContents();
      expect(new Set(modes)).toEqual(new Set(['Agent']));
    };
    await stands();
    await page.reload();
    await stands();
    await rows().first().locator('a.row-link').click();
    await page.waitForURL('**/explorer/coins/*');
    await page.goBack();
    await stands();
    await page.goBack();
    await page.waitForURL('**/explorer/?mode=Agent');
    await page.locator('table.ranking[data-sort="marketCap"]').waitFor();
  });

  test('the keyboard alone is enough to search, to move through the rows and to open one', async () => {
    await open('/explorer/');
    await page.keyboard.press('/');
    await page.keyboard.type(running.mint);
    await page.waitForURL(`**/explorer/?search=${running.mint}`);
    await page.locator('table.ranking tbody:not(:has(tr + tr)) a.row-link').waitFor();
    // Outside the field a letter is a command again.
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/explorer/coins/${running.mint}`);
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
  });

  test('no page has serious axe violations, light or dark, or is wider than a phone’s window', async () => {
    const found: string[] = [];
    for (const [name, path] of Object.entries(pages)) {
      await open(path);
      found.push(...(await violations(page)).map((line) => `${path} ${line}`));
      await picture(page, `${name}-desktop`);
      await page.setViewportSize(PHONE);
      await fits(path, found);
      await picture(page, `${name}-phone`);
      if (name === 'rankings') expect(await isCutOff(page, '.token-name b', LONG_NAME)).toBe(false);
      if (name === 'policy') expect(await isCutOff(page, '.event-text', LONG_EVENT)).toBe(false);
      await page.setViewportSize(NARROWEST);
      await fits(path, found);
      await page.setViewportSize(DESKTOP);
    }
    expect(found).toEqual([]);
  });

  test('the shared tab of the tests above had no console error or warning and no request to another host', () => {
    expect(tab.faults).toEqual([]);
  });

  test('each page shows its main content after three API answers', async () => {
    const { page: slow } = await another();
    for (const [name, path] of Object.entries({ ...pages, burned: BURNED })) {
      await slow.unrouteAll({ behavior: 'ignoreErrors' });
      // The previous page goes on asking for as long as it is open.
      await slow.goto('about:blank');
      await answerOnly(slow, MOST_REQUESTS);
      await slow.goto(path);
      await slow
        .locator(USEFUL[name] as string)
        .first()
        .waitFor();
      // "base units" is shown only for tokens whose decimals did not arrive.
      expect(await slow.locator('.burned + small', { hasText: 'base units' }).count()).toBe(0);
    }
  });

  test('the head of a ranking stays visible, and the keys focus no row that it covers', async () => {
    const { page: low } = await another();
    await low.setViewportSize({ width: DESKTOP.width, height: 320 });
    await open('/explorer/', low);
    const topOf = (selector: string) =>
      low.evaluate<number>(`document.querySelector('${selector}').getBoundingClientRect().top`);
    await low.mouse.wheel(0, 10_000);
    await awaited(async () => expect(await topOf('table.ranking thead th')).toBe(0), 50);
    for (const key of ['j', 'j', 'j', 'k', 'k']) await low.keyboard.press(key);
    const headEnds = await low.evaluate<number>(
      "document.querySelector('table.ranking thead th').getBoundingClientRect().bottom",
    );
    expect(await topOf('table.ranking tr:focus-within')).toBeGreaterThanOrEqual(headEnds);
  });

  test('of 10,000 events only those in view are in the document', async () => {
    const { page: long } = await another();
    await lengthenActivity(long, LONG);
    await open(pages.policy as string, long);
    const rows = long.locator('.activity li');
    await awaited(async () => {
      expect(await rows.count()).toBeLessThan(MOST_ROWS);
      await long.evaluate("document.querySelector('.activity').scrollTo(0, 1e9)");
      expect(Number(await rows.first().getAttribute('aria-setsize'))).toBe(LONG);
    }, 200);
    await long.locator(`.activity li[aria-posinset="${LONG}"]`).waitFor();
    expect(await rows.count()).toBeLessThan(MOST_ROWS);
  });

  test('while the store is down pages say so, keep old figures, show no zeros, and recover once it is back', async () => {
    const { page: lost } = await another();
    await open(pages.policy as string, lost);
    await lost.getByText('it grows as they happen').waitFor();
    await loseStore(lost);
    await lost.getByText('Not up to date.').first().waitFor();
    await lost.getByText('the store does not answer').first().waitFor();
    expect(await lost.locator('dl.figures button.figure', { hasText: /[1-9]/ }).count()).toBeGreaterThan(0);
    for (const path of Object.values(pages)) {
      await open(path, lost);
      await lost.getByRole('alert').first().waitFor();
      await lost.locator('a.status', { hasText: 'Not answering' }).waitFor();
      expect(await lost.locator('main h1').count()).toBe(1);
      // The name of the policy is in the address, and a ranking in its list.
      const text = (await lost.locator('main').textContent())?.replace(/^Policy \S+|Events 24 h/, '');
      expect(text).not.toMatch(/\d|absent/);
    }
    await lost.unrouteAll({ behavior: 'ignoreErrors' });
    await lost.getByRole('alert').first().waitFor({ state: 'detached' });
    await lost
      .locator(USEFUL.registries as string)
      .first()
      .waitFor();
  });

  test('when no request is answered any more, the page says only once that it is not up to date', async () => {
    const { page: cut } = await another();
    await open(pages.policy as string, cut);
    await cut.getByText('it grows as they happen').waitFor();
    const failed = ['', '/posts', '/activity'].map((of) =>
      cut.waitForEvent('requestfailed', (request) =>
        new URL(request.url()).pathname.endsWith(`${running.speaker}${of}`),
      ),
    );
    await cut.route(isApi, (route) => route.abort());
    await Promise.all(failed);
    await cut.getByText('Not up to date.').first().waitFor();
    // Any other failure is drawn within two frames.
    await cut.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    expect(await cut.getByText('Not up to date.').count()).toBe(1);
  });

  test('an open page keeps its content when the store goes down, and says that it is not up to date and how old', async () => {
    for (const [name, path] of Object.entries(pages)) {
      const { page: left } = await another();
      await left.clock.install();
      await open(path, left);
      const useful = left.locator(USEFUL[name] as string).first();
      // The page must have had its answers before the store is lost.
      await useful.waitFor();
      await loseStore(left);
      await left.clock.fastForward(A_MINUTE_MS);
      const old = /Not up to date\..* What stands here was answered [1-9]\d* min( \d+ s)? ago\./;
      await left.locator('.notice.old', { hasText: old }).first().waitFor();
      await useful.waitFor();
      await picture(left, `stale-${name}`);
    }
  });

  test('an unknown mint and a browser without scripts get links to go on, an empty ranking an explanation', async () => {
    const { page: none } = await another();
    await none.goto(`/explorer/coins/${NO_POLICY}`);
    await none.getByRole('heading', { name: 'No policy here' }).waitFor();
    const back = none.getByRole('link', { name: 'All policies' });
    expect(await back.getAttribute('href')).toBe('/explorer/');
    // Within a sentence a link needs more than its colour.
    expect(await back.evaluate((link) => getComputedStyle(link).textDecorationLine)).toBe('underline');
    await picture(none, 'no-policy');
    await emptyRankings(none);
    for (const [path, title] of [
      ['/explorer/?sort=profit', 'No policy yet.'],
      ['/explorer/?search=nothing', 'No policy fits.'],
    ] as const) {
      await none.goto(path);
      await none.locator('.empty', { hasText: title }).waitFor();
    }
    const bare = await browser.newPage({ baseURL: running.url, javaScriptEnabled: false });
    onTestFinished(() => bare.close());
    await bare.goto('/explorer/');
    expect(await bare.getByText('Loading the explorer').isVisible()).toBe(false);
    expect(await bare.getByRole('link').allTextContents()).toEqual(['/rankings', '/analytics', '/status']);
    await picture(bare, 'no-scripts');
  });

  test('hostile texts in API answers run nothing and stay inside their place, on every page', async () => {
    const hostile = await another();
    await makeHostile(hostile.page);
    const found: string[] = [];
    for (const path of Object.values(pages)) {
      await open(path, hostile.page);
      await hostile.page.locator('.hidden-char').first().waitFor();
      for (const figure of (await hostile.page.locator('button.figure').all()).slice(0, 5))
        await figure.focus();
      found.push(...(await harm(hostile.page)).map((line) => `${path} ${line}`));
      for (const size of [PHONE, DESKTOP]) {
        await hostile.page.setViewportSize(size);
        found.push(...(await spilled(hostile.page)).map((line) => `${path} at ${size.width}: ${line}`));
      }
    }
    expect([...found, ...hostile.faults]).toEqual([]);
  });

  test('a hostile URL does nothing but show a page', async () => {
    const sent = await another();
    const found: string[] = [];
    for (const path of hostileAddresses()) {
      await sent.page.goto(path);
      await sent.page.locator('main h1').first().waitFor();
      found.push(...(await harm(sent.page)).map((line) => `${path} ${line}`));
    }
    // A text that is not a mint or a filter is refused, and the page says so.
    const faults = sent.faults.filter((fault) => !/^answered 40[04] /.test(fault));
    expect([...found, ...faults]).toEqual([]);
  });
});
