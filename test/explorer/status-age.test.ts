import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { useExplorerAlone } from './support/explorer-alone.ts';
import { isApi } from './support/hostile-answers.ts';
import { statusAt } from './support/status-answers.ts';
import { CHROMIUM } from './support/tab.ts';

const missing = CHROMIUM === undefined ? ': chromium is not installed' : '';
/** Time of the API's clock, and how far ahead of it the reader's clock is. */
const THERE = Date.parse('2026-11-24T05:00:00.000Z');
const AHEAD_MS = 300_000;
/** Less than the page waits before it asks again, and more. */
const A_MOMENT_MS = 8_000;
const A_WHILE_MS = 20_000;

describe.skipIf(CHROMIUM === undefined)(`how far the index is behind${missing}`, () => {
  const explorer = useExplorerAlone();
  const behind = (page: Page) => page.locator('.indexer button.figure', { hasText: 'Behind the chain' });

  test('is measured by the API’s clock, not the reader’s, and grows while no answer comes', async () => {
    const { page } = await explorer.another();
    await page.clock.install({ time: THERE + AHEAD_MS });
    let [answeredAt, isLost] = [THERE, false];
    await page.route(isApi, (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname !== '/status' || isLost)
        return route.fulfill({ status: 500, json: { error: `no ${pathname}` } });
      const headers = { Date: new Date(answeredAt).toUTCString() };
      return route.fulfill({ headers, json: statusAt(THERE - 1_000, THERE + AHEAD_MS) });
    });
    await page.goto('/explorer/protocol');
    await behind(page)
      .filter({ hasText: /: 1 s$/ })
      .waitFor();
    await page.locator('a.status', { hasText: 'Up to date' }).waitFor();
    await page.clock.fastForward(A_MOMENT_MS);
    // Ages by the reader's clock are drawn anew; how far the index is behind is not.
    await page.getByText(/^(?:8|9|\d\d) s ago$/).waitFor();
    expect(await behind(page).textContent()).toBe('Behind the chain: 1 s');
    // The index stands still, and the API's clock goes on.
    answeredAt = THERE + 119_000;
    await page.clock.fastForward(A_WHILE_MS);
    await behind(page)
      .filter({ hasText: /: 2 min/ })
      .waitFor();
    await page.locator('a.status', { hasText: '2 min behind' }).waitFor();
    // Without new answers the age grows by the reader's clock.
    isLost = true;
    await page.clock.fastForward(A_WHILE_MS);
    await page.getByText('Not up to date.').first().waitFor();
    await page.clock.fastForward(60_000);
    await behind(page)
      .filter({ hasText: /: [3-9] min/ })
      .waitFor();
  });

  test('a disconnected stream is shown with its reason, and history as incomplete', async () => {
    const { page } = await explorer.another();
    await page.clock.install({ time: THERE });
    const status = statusAt(THERE - 1_000, THERE + AHEAD_MS);
    status.indexer.stream = { connected: false, since: null, reason: 'the token is refused' };
    status.indexer.history.complete = false;
    await page.route(isApi, (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname !== '/status') return route.fulfill({ status: 500, json: { error: `no ${pathname}` } });
      return route.fulfill({ headers: { Date: new Date(THERE).toUTCString() }, json: status });
    });
    await page.goto('/explorer/protocol');
    await page.locator('a.status', { hasText: 'No stream' }).waitFor();
    const indexer = page.locator('.indexer');
    await indexer.getByText('the token is refused').waitFor();
    expect(await indexer.textContent()).toContain('HistoryIncomplete');
  });
});
