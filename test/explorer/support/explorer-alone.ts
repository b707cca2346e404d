import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { createApp } from '../../../api/app.ts';
import { type Listening, listen } from '../../../api/http/listen.ts';
import { createLatest } from '../../../api/latest/latest.ts';
import { SETTINGS } from '../../api/support/api.ts';
import { closeTab, openBrowser, openTab, type Tab } from './tab.ts';

/** The pages and a browser, without a store: each test decides what the API answers. */
export function useExplorerAlone(): { another(): Promise<Tab> } {
  let api: Listening;
  let browser: Browser;
  beforeAll(async () => {
    const noStore = () => {
      throw new Error('no store');
    };
    const latest = createLatest({ currentStore: noStore, clock: Date.now });
    const app = createApp({ latest, settings: SETTINGS, clock: Date.now });
    [api, browser] = await Promise.all([listen(app, '127.0.0.1', 0), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
  });
  return {
    another: async () => {
      const tab = await openTab(browser, `http://127.0.0.1:${api.port}`);
      onTestFinished(() => closeTab(tab));
      return tab;
    },
  };
}
