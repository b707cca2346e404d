import { setTimeout as delay } from 'node:timers/promises';
import { coin } from './coin/coin.ts';
import { fees } from './coin/fees.ts';
import { coinFinder } from './coin/find.ts';
import { loop } from './coin/loop.ts';
import { positions } from './coin/positions.ts';
import type { ReadSettings } from './deps/settings.ts';
import type { Latest } from './latest/latest.ts';
import { rankingPage } from './rankings/rankings.ts';

/** The wait before a store that did not answer is asked again; doubled while it goes on failing. */
const AGAIN_MS = 250;
const MOST_AGAIN_MS = 5_000;

const NO_QUERY = new URLSearchParams();

/**
 * The first request for a ranking would wait until all policies are read, and the first for a coin until its rows were
 * looked up one by one: both are begun before any request.
 */
export async function warmUp(
  latest: Pick<Latest, 'read'>,
  settings: ReadSettings,
  signal: AbortSignal,
): Promise<void> {
  const find = coinFinder({ settings });
  for (let againMs = AGAIN_MS; !signal.aborted; againMs = Math.min(2 * againMs, MOST_AGAIN_MS))
    try {
      const { value } = await latest.read((view) => rankingPage(view, settings, NO_QUERY));
      const mint = value.items[0]?.mint;
      if (mint === undefined) return;
      await latest.read((view) => {
        const one = find({ params: { mint }, query: NO_QUERY }, view);
        if (one === null) return;
        for (const answer of [coin, fees, loop, positions]) answer(one);
      });
      return;
    } catch {
      // Requests report the reason themselves.
      await delay(againMs, undefined, { signal, ref: false }).catch(() => {});
    }
}
