import { setTimeout as delay } from 'node:timers/promises';
import type { ReadSettings } from '../deps/settings.ts';
import type { Latest } from '../latest/latest.ts';
import { rankingPage } from './rankings.ts';

/** A store that is not reached yet is asked again. */
const AGAIN_MS = 250;

/** Whoever asks for a ranking first would wait until all policies are read: that is begun before anybody asks. */
export async function warmUpRankings(
  latest: Pick<Latest, 'read'>,
  settings: ReadSettings,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted)
    try {
      await latest.read((view) => rankingPage(view, settings, new URLSearchParams()));
      return;
    } catch {
      // Who asks is told why.
      await delay(AGAIN_MS, undefined, { signal, ref: false }).catch(() => {});
    }
}
