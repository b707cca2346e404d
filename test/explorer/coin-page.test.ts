import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { ActivityItem } from '../../schemas/responses/coin/activity.ts';
import type { AgentPost } from '../../schemas/responses/coin/posts.ts';
import type { CoinHistoryItem } from '../../schemas/responses/history.ts';
import { awaited } from '../support/awaited.ts';
import {
  AT,
  answerCoin,
  type CoinAnswers,
  coinAnswers,
  figureOf,
  LOCAL,
  MINT,
} from './support/coin-answers.ts';
import { equityAt } from './support/drawn-figures.ts';
import { useExplorerAlone } from './support/explorer-alone.ts';
import { CHROMIUM, drawings, NARROWEST, overflow, picture, spilled } from './support/tab.ts';

/** Longer than the page waits before it asks again. */
const A_MINUTE_MS = 60_000;
const TEN_MINUTES_MS = 600_000;
const HALF_AN_HOUR_MS = 1_800_000;
/** A stream that sends an event and ends. */
const ONE_EVENT = 'retry: 600000\n\nevent: activity\ndata: {}\n\n';
const ONE_POST = ONE_EVENT.replace('activity', 'post');
const missing = CHROMIUM === undefined ? ': chromium is not installed' : '';

describe.skipIf(CHROMIUM === undefined)(`the page of a policy${missing}`, () => {
  const explorer = useExplorerAlone();

  /** A tab with a policy's page, these answers, and a clock that can be set forward. */
  async function opened(
    answers: CoinAnswers,
    streams: Route[] = [],
    also: (page: Page) => Promise<unknown> = async () => {},
  ): Promise<Page> {
    const tab = await explorer.another();

    await tab.page.clock.install({ time: Date.parse(AT) + TEN_MINUTES_MS });
    await answerCoin(tab.page, answers, streams);
    await also(tab.page);
    await tab.page.goto(`/explorer/coins/${MINT}`);
    await tab.page.locator('ol.loop button.figure').first().waitFor();
    return tab.page;
  }
  /** The first number with this accessible name. */
  const figure = (page: Page, name: string) =>
    page.locator(`main button.figure:has(.for-readers:text-is("${name}:"))`).first();
  const panelOf = async (page: Page, name: string) => {
    await figure(page, name).focus();
    await page.locator('.panel-name', { hasText: name }).waitFor();
    return (await page.locator('.panel').textContent()) ?? '';
  };
  /** The API's answers where an account of another asset is in the sums, or was until it was revoked. */
  const ofAnotherAsset = (answers: CoinAnswers, revoked: boolean): CoinAnswers => {
    const { coin, loop, history } = answers;
    return {
      ...answers,
      coin: {
        ...coin,
        venueAccounts: coin.venueAccounts.map((account) =>
          account.tokenAccount === LOCAL ? { ...account, assetMint: MINT, revoked } : account,
        ),
      },
      loop: revoked
        ? loop
        : { ...loop, step4_deployed: { ...loop.step4_deployed, localOfOtherAssets: [LOCAL] } },
      history: { ...history, localMaybeOfOtherAssets: [LOCAL] },
    };
  };
  const REASON = `account ${LOCAL} holds another asset than the quote`;

  test('shows sums as absent, now and in the past, if an account holds another asset than the quote', async () => {
    const answers = coinAnswers();
    const page = await opened(ofAnotherAsset(answers, false));
    for (const name of ['Held now: At work on chain', 'Equity']) {
      expect(await figure(page, name).textContent()).toMatch(/absent$/);
      expect(await panelOf(page, name)).toContain(REASON);
    }
    expect(await figure(page, 'Held now: Unspent').textContent()).toMatch(/300 USDX$/);
    expect(await figure(page, 'Balance').textContent()).toMatch(/4\.167 TIGER$/);
    const rows = page.locator('.equity tbody tr');
    await page.locator('.equity summary').click();
    expect(await rows.count()).toBeGreaterThan(3);
    for (const row of await rows.all())
      expect(
        (await row.locator('td').allTextContents()).map((text) => text.replace(/^.*absent$/, 'absent')),
      ).toEqual(['absent', '300', 'absent', '100', '400']);
  });

  test('does not say that there are no venue accounts while they are not known', async () => {
    const answers = coinAnswers();
    const { step4_deployed: held } = answers.loop;
    const reason = '0 of 2 venue accounts are known';
    const unknown = { ...figureOf('0'), value: null, absent: true as const, reason };
    answers.coin.venueAccounts = [];
    answers.positions.positions = [];
    held.local = unknown;
    held.remote = unknown;
    const page = await opened(answers);
    const venues = page.locator('section', { has: page.locator('h2', { hasText: 'Venue accounts' }) });
    await venues.getByText('are known').waitFor();
    expect(await venues.textContent()).toMatch(/0 of 2 venue accounts are known\.$/i);
    expect(await venues.textContent()).not.toContain('stays in its vault');
    held.local = figureOf('0');
    held.remote = figureOf('0');
    await page.clock.fastForward(A_MINUTE_MS);
    await venues.getByText('until then the bankroll stays in its vault').waitFor();
  });

  test('leaves a revoked account of another asset out of current equity, and shows past equity as absent', async () => {
    const answers = coinAnswers();
    answers.loop.step4_deployed.local.value = '0';
    // It was revoked after this hour.
    const [ended] = answers.history.items as [CoinHistoryItem];
    answers.history.items.push({ ...ended, time: new Date(Date.parse(AT) + 300_000).toISOString() });
    const page = await opened(ofAnotherAsset(answers, true));
    expect(await figure(page, 'Equity').textContent()).toMatch(/400 USDX$/);
    await page.locator('.equity summary').click();
    const equities = await page.locator('.equity tbody tr td:nth-of-type(1)').allTextContents();
    expect(equities[0]).toBe('400');
    expect(equities.slice(1).filter((text) => !text.endsWith('absent'))).toEqual([]);
    expect(equities.length).toBeGreaterThan(3);
  });

  test('takes the asset of an account from the answer with the sum, not from an older coin answer', async () => {
    const answers = coinAnswers();
    const page = await opened({ ...ofAnotherAsset(answers, false), coin: answers.coin });
    expect(await panelOf(page, 'Equity')).toContain(REASON);
    await page.locator('.equity summary').click();
    const newest = page.locator('.equity tbody tr').first().locator('td').first();
    expect(await newest.textContent()).toMatch(/absent$/);
  });

  test('polls for changes without an event: an attestation that becomes stale, a changed sum', async () => {
    const answers = coinAnswers();
    const page = await opened(answers);
    const stale = page.locator('.venue .tag', { hasText: 'Attestation is stale' });
    await page.getByText('27 s old').waitFor();
    expect(await stale.count()).toBe(0);
    const [position] = answers.positions.positions;
    Object.assign(position?.onChainAttestation ?? {}, { ageSeconds: 127, stale: true });
    answers.loop.step2_routed.toLp = figureOf('2500000');
    await page.clock.fastForward(A_MINUTE_MS);
    await stale.waitFor();
    await figure(page, 'Routed: Liquidity').filter({ hasText: '2.5 USDX' }).waitFor();
  });

  test('says that the readings of venues are not up to date while only they fail', async () => {
    const page = await opened(coinAnswers());
    await page.getByText('27 s old').waitFor();
    const venues = page.locator('section', { has: page.locator('h2', { hasText: 'Venue accounts' }) });
    expect(await venues.getByRole('status').count()).toBe(0);
    await page.route(/\/positions$/, (route) =>
      route.fulfill({ status: 500, json: { error: 'it is lost' } }),
    );
    await page.clock.fastForward(A_MINUTE_MS);
    await venues.getByText('Not up to date. It is lost.').waitFor();
    expect(await page.getByText('Not up to date.').count()).toBe(1);
  });

  test('calls the high water mark one of base units if the decimals are not known', async () => {
    const answers = coinAnswers();
    answers.coin.quote.decimals = null;
    const page = await opened(answers);
    const second = page.locator('dl.figures > div', { hasText: 'Profit swept' }).locator('dd.second');
    expect(await second.textContent()).toMatch(/high water mark .*400\.00M base units$/);
  });

  test('folds a name of many letters, all of which can be read', async () => {
    const answers = coinAnswers();
    const name = `Copper ${'tiger '.repeat(1_500)}end`;
    Object.assign(answers.coin, { name, symbol: name });
    const page = await opened(answers);
    const top = () =>
      page
        .locator('dl.figures')
        .first()
        .evaluate((figures) => figures.getBoundingClientRect().top);
    expect(await top()).toBeLessThan(900);
    const whole = page.locator('.whole-name p');
    expect(await whole.first().isVisible()).toBe(false);
    await page.getByText('The whole name').click();
    expect(await whole.first().isVisible()).toBe(true);
    expect(await whole.allTextContents()).toEqual([name, name]);
  });

  test('updates the open panel of a figure when the figure changes, and reopens no closed one', async () => {
    const answers = coinAnswers();
    const page = await opened(answers);
    const value = page.locator('.panel-value');
    expect(await panelOf(page, 'Routed: Liquidity')).toContain('2 USDX');
    answers.loop.step2_routed.toLp = figureOf('2500000');
    await page.clock.fastForward(A_MINUTE_MS);
    await value.filter({ hasText: '2.5 USDX' }).waitFor();
    answers.loop.step2_routed.toLp = { ...figureOf('0'), value: null, absent: true, reason: 'it is lost' };
    await page.clock.fastForward(A_MINUTE_MS);
    await page.locator('.panel dd', { hasText: 'it is lost' }).waitFor();
    // A closed panel stays closed.
    await page.keyboard.press('Escape');
    answers.loop.step2_routed.toLp = figureOf('3000000');
    await page.clock.fastForward(A_MINUTE_MS);
    await figure(page, 'Routed: Liquidity').filter({ hasText: '3 USDX' }).waitFor();
    expect(await page.locator('.panel').isVisible()).toBe(false);
  });

  test('updates the open panel of an event when a newer event takes its row', async () => {
    const answers = coinAnswers();
    const streams: Route[] = [];
    const page = await opened(answers, streams);
    await page.locator('.activity li button').first().focus();
    const source = page.locator('.panel dd.source');
    await source.filter({ hasText: 'transaction signature 0,' }).waitFor();
    const [newest] = answers.activity.items;
    answers.activity.items = [{ ...newest, signature: 'newer' } as ActivityItem, ...answers.activity.items];
    await awaited(() => expect(streams.length).toBe(1));
    await streams[0]?.fulfill({ contentType: 'text/event-stream', body: ONE_EVENT });
    await source.filter({ hasText: 'transaction newer,' }).waitFor();
  });

  test('keeps an event that comes while an older page is loading at the head of the list', async () => {
    const answers = coinAnswers();
    const events = answers.activity.items;
    const more = (from: number) =>
      events.map((event, at) => ({ ...event, signature: `signature ${from + at}` }) as ActivityItem);
    const all = [0, 40, 80, 120].flatMap(more);
    answers.activity.items = all.slice(0, 100);
    const streams: Route[] = [];
    const page = await opened(answers, streams);
    const rows = page.locator('.activity li');
    const held: Route[] = [];
    await page.route(/\/activity\?.*offset=/, (route) => void held.push(route));
    const scrolledTo = (top: number) =>
      page.locator('.activity').evaluate((frame, to) => frame.scrollTo(0, to), top);
    await rows.first().waitFor();
    await scrolledTo(100_000);
    await awaited(() => expect(held.length).toBe(1));
    answers.activity.items = [{ ...all[0], signature: 'newer' } as ActivityItem, ...all.slice(0, 99)];
    await awaited(() => expect(streams.length).toBe(1));
    await streams[0]?.fulfill({ contentType: 'text/event-stream', body: ONE_EVENT });
    const length = () => rows.first().getAttribute('aria-setsize');
    await awaited(async () => expect(await length()).toBe('101'));
    await held[0]?.fulfill({ json: { ...answers.activity, items: all.slice(80) } });
    await awaited(async () => expect(await length()).not.toBe('101'));
    expect(await length()).toBe('161');
    await scrolledTo(0);
    await page.locator('.activity li[aria-posinset="1"] button').focus();
    await page.locator('.panel dd.source', { hasText: 'transaction newer,' }).waitFor();
  });

  test('has all posts in order when many came at once after older ones had been loaded', async () => {
    const answers = coinAnswers();
    answers.coin.mode = 'Agent';
    let written = 200;
    const posts = ({ limit, offset }: { limit: number; offset: number }) =>
      Array.from({ length: Math.max(0, Math.min(limit, written - offset)) }, (_, at) =>
        postOf(written - offset - at),
      );
    const streams: Route[] = [];
    const page = await opened(answers, streams, (tab) =>
      tab.route(/\/posts\?/, (route) => {
        const { searchParams } = new URL(route.request().url());
        const asked = {
          limit: Number(searchParams.get('limit')),
          offset: Number(searchParams.get('offset')),
        };
        return route.fulfill({ json: { posts: posts(asked), total: written } });
      }),
    );
    const texts = page.locator('.posts .post-text');
    const said = (newest: number, count: number) =>
      Array.from({ length: count }, (_, at) => `post ${newest - at}`);
    const olderUntil = async (isEnough: (texts: string[]) => boolean) =>
      awaited(async () => {
        if (!isEnough(await texts.allTextContents()))
          // The button may have gone as other posts arrived.
          await page.evaluate(`document.querySelector('.posts button')?.click()`);
        expect(isEnough(await texts.allTextContents())).toBe(true);
      });
    await olderUntil(({ length }) => length >= 200);
    expect(await texts.allTextContents()).toEqual(said(200, await texts.count()));
    written = 350;
    await awaited(() => expect(streams.length).toBe(1));
    await streams[0]?.fulfill({ contentType: 'text/event-stream', body: ONE_POST });
    await texts.filter({ hasText: 'post 350' }).waitFor();
    await olderUntil((all) => all.includes('post 1'));
    expect(await texts.allTextContents()).toEqual(said(350, 350));
    expect(await page.locator('.posts button', { hasText: 'Older posts' }).count()).toBe(0);
  });

  test('links from the panel of a figure to the API path that serves it', async () => {
    const page = await opened(coinAnswers());
    for (const [name, path] of [
      ['Fees claimed: In the quote asset', `/coins/${MINT}/loop`],
      ['Fees claimed: Not routed yet', `/coins/${MINT}`],
      ['Bought back, burned: Spent', `/coins/${MINT}/loop`],
      ['Bought back, burned: Not spent yet', `/coins/${MINT}`],
    ] as const)
      expect(await panelOf(page, name)).toMatch(new RegExp(`API${path}$`));
    await page.locator('ol.loop button.figure', { hasText: 'Tokens burned' }).focus();
    await page.locator('.panel-name', { hasText: 'Tokens burned' }).waitFor();
    expect(await page.locator('.panel dd.asked').textContent()).toBe(`/coins/${MINT}`);
  });

  test('takes the liquidity compounded from /coins/:mint, not from /loop', async () => {
    const page = await opened(coinAnswers());
    expect(await figure(page, 'Liquidity compounded').textContent()).toMatch(/1\.25 USDX$/);
    expect(await panelOf(page, 'Liquidity compounded')).toMatch(new RegExp(`API/coins/${MINT}$`));
  });

  test('has the equity among the first figures, with the unspent part below it', async () => {
    const answers = coinAnswers();
    answers.loop.step4_deployed.bankrollUnspent = figureOf('0');
    const page = await opened(answers);
    const first = page.locator('dl.figures > div', { hasText: 'Equity' });
    expect(await first.textContent()).toMatch(/104\.167 USDX.*\b0 USDX of it unspent$/);
    expect(await panelOf(page, 'Equity')).toMatch(
      new RegExp(`all that is held.*API/coins/${MINT}/loop$`, 'i'),
    );
    await first.locator('dd.second button').focus();
    await page.locator('.panel-name', { hasText: 'Bankroll, unspent' }).waitFor();
  });

  test('shows the unspent bankroll even if /loop fails', async () => {
    const { page } = await explorer.another();
    await answerCoin(page, coinAnswers(), []);
    await page.route(/\/loop$/, (route) => route.fulfill({ status: 500, json: { error: 'lost' } }));
    await page.goto(`/explorer/coins/${MINT}`);
    await page.getByRole('alert').waitFor();
    const first = page.locator('dl.figures > div', { hasText: 'Equity' });
    expect(await first.textContent()).toMatch(/….*300 USDX of it unspent$/);
  });

  test('explains risk as the share up to which money is sent to work, not as a bound on what is there', async () => {
    const answers = coinAnswers();
    answers.loop.step4_deployed.bankrollUnspent = figureOf('0');
    const page = await opened(answers);
    expect(await page.locator('ol.loop').textContent()).toContain(
      'the equity. Money is sent to work up to 90% of that; gains and sweeps then move the share.',
    );
    expect(await page.locator('dt', { hasText: 'Risk' }).textContent()).toBe(
      'Riskper cent of the equity up to which money is sent to work',
    );
  });

  test('gives an equity sample taken by this page the time of its parts and a link to /loop', async () => {
    const page = await opened(coinAnswers());
    // From ten minutes after the last hour on, the chart shows what this tab has seen.
    await page.clock.fastForward(HALF_AN_HOUR_MS);
    const asOf = `${AT.slice(0, 19).replace('T', ' ')} UTC`;
    await awaited(async () => {
      const { panel, row } = await equityAt(page, 0.9);
      // Seen before the clock was set forward, however long the page took to be drawn.
      const at = Date.parse(`${panel?.rows.At?.slice(0, 19)}Z`) - Date.parse(AT);
      expect(at).toBeGreaterThanOrEqual(TEN_MINUTES_MS);
      expect(at).toBeLessThan(TEN_MINUTES_MS + HALF_AN_HOUR_MS);
      expect(panel?.rows['As of']).toContain(asOf);
      expect(panel?.rows.API).toBe(`/coins/${MINT}/loop`);
      expect(row[0]).toBe('404.167');
      expect((await equityAt(page, 0.5)).panel?.rows.API).toContain(`/coins/${MINT}/history?`);
    }, 200);
  });

  test('shows an unfinished hour as absent up to the page’s first sample, which is drawn at once', async () => {
    const answers = coinAnswers();
    const lost = { value: null, source: 'a test', asOf: null, absent: true as const, reason: 'not kept' };
    for (const moment of answers.history.items) moment.bankroll = lost;
    const page = await opened(answers);
    await awaited(async () => {
      // From three to ten past five: this is a few minutes past five.
      const { panel, row } = await equityAt(page, 0.96);
      expect(panel).toMatchObject({ isAbsent: true, rows: { At: '2026-11-24 05:00:01 UTC' } });
      expect(panel?.rows.Why).toMatch(
        /^this page did not look between 2026-11-24 05:00:00 and 2026-11-24 05:1\d:\d\d UTC, and the API keeps what was at the end of each hour$/,
      );
      expect(row).toHaveLength(5);
      expect(row.filter((text) => !text.endsWith('absent'))).toEqual([]);
    }, 200);
    await awaited(async () => {
      expect((await equityAt(page, 0.5)).panel?.rows).toMatchObject({ Why: 'not kept' });
      // Only that value of the unspent money is known.
      const [equity] = await drawings(page, { Equity: '--purse-bankroll' });
      expect(equity?.pixels).toBeGreaterThan(0);
    }, 200);
    await picture(page, 'open-hour');
  });

  test('fits the smallest phone with its longest texts, and has spaces between its words', async () => {
    const answers = coinAnswers();
    answers.coin.quote.priceUsd = '0.000000000000000000123';
    const page = await opened(answers);
    expect(await page.locator('ol.loop').textContent()).toMatch(/own token\sTokens burned: 24,470/);
    await page.setViewportSize(NARROWEST);
    await awaited(async () => expect(await overflow(page)).toBe(0), 200);
    expect(await spilled(page)).toEqual([]);
  });

  test('is printed with whole event rows, and says which these are and where the others are', async () => {
    const page = await opened(coinAnswers());
    await page.setViewportSize({ width: 720, height: 1_000 });
    await page.locator('.activity li').first().waitFor();
    const note = page.locator('p.on-paper');
    expect(await note.isVisible()).toBe(false);
    await page.emulateMedia({ media: 'print' });
    await awaited(
      async () => expect(await cutRows(page)).toEqual({ rows: expect.any(Number), cut: [] }),
      200,
    );
    const { rows } = await cutRows(page);
    expect(rows).toBeGreaterThan(5);
    // A frame that is as tall as all drawn rows must not have the list draw more and more of them.
    expect(rows).toBeLessThan(30);
    expect(await note.textContent()).toMatch(
      new RegExp(`^Events 1 to ${rows} of 40 read here, newest first; all of them: /coins/${MINT}/activity`),
    );
  });
});

const postOf = (n: number): AgentPost => ({
  ...{ id: String(n), mint: MINT, agent: MINT, kind: 'idle', text: `post ${n}`, venue: null, ref: null },
  ...{ createdAt: AT, model: { id: 0, name: null, provider: null, enabled: null } },
});

/** How many events are on the page, and those that are partly hidden or overlap. */
const cutRows = (page: Page): Promise<{ rows: number; cut: string[] }> =>
  page.evaluate(`(() => {
    const frame = document.querySelector('.activity').getBoundingClientRect();
    const rows = [...document.querySelectorAll('.activity li')];
    const places = rows.map((row) => row.getBoundingClientRect());
    const isCut = (row, at) =>
      places[at].bottom > frame.bottom || places[at].top < (places[at - 1]?.bottom ?? frame.top) - 0.5;
    return { rows: rows.length, cut: rows.filter(isCut).map(({ textContent }) => textContent) };
  })()`);
