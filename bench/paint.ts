import { ConfigError } from '../runtime/errors.ts';
import { startRunning } from '../test/explorer/support/running.ts';
import { CHROMIUM, openBrowser } from '../test/explorer/support/tab.ts';
import type { Row } from './support/row.ts';

const TURNS = 5;
const BAR_MS = 1_000;
const BAR_BYTES = 150_000;

interface Measured {
  paintMs: number;
  /** Bytes of all scripts as they came over the wire, headers included. */
  scriptBytes: number;
}

const MEASURED = `new Promise((resolve) => {
  const paint = () => performance.getEntriesByName('first-contentful-paint')[0];
  const told = () => resolve({
    paintMs: paint().startTime,
    scriptBytes: performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).reduce((sum, { transferSize }) => sum + transferSize, 0),
  });
  const look = () => (paint() === undefined ? setTimeout(look, 20) : told());
  look();
})`;

/** Measures what a first visitor waits for: each page of a running `npm start`'s explorer, with an empty cache. */
export async function benchPaint(): Promise<Row[]> {
  if (CHROMIUM === undefined)
    throw new ConfigError('chromium is not installed: there is nothing to paint with');
  const [running, browser] = await Promise.all([startRunning(), openBrowser()]);
  const pages = ['', `coins/${running.speaker}`, 'protocol', 'registries'];
  const rows: Row[] = [];
  try {
    for (const page of pages) {
      const turns: Measured[] = [];
      for (let turn = 0; turn < TURNS; turn += 1) {
        const context = await browser.newContext();
        const tab = await context.newPage();
        await tab.goto(`${running.url}/explorer/${page}`, { waitUntil: 'load' });
        await tab.locator('main > *').first().waitFor();
        turns.push(await tab.evaluate<Measured>(MEASURED));
        await context.close();
      }
      const paints = turns.map(({ paintMs }) => paintMs).sort((a, b) => a - b);
      const median = paints[Math.floor(TURNS / 2)] as number;
      const bytes = Math.max(...turns.map(({ scriptBytes }) => scriptBytes));
      rows.push({
        name: `/explorer/${page.replace(running.speaker, ':mint')}`,
        value: `first paint ${median.toFixed(0)} ms, ${(bytes / 1000).toFixed(0)} kB of script`,
        ok: median < BAR_MS && bytes < BAR_BYTES,
      });
    }
    return rows;
  } finally {
    await browser.close();
    await running.stop();
  }
}
