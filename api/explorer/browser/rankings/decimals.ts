import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { getJson, waitAfter } from '../resource.ts';

/** Undefined: not loaded yet. Null: not known. */
type Decimals = number | null | undefined;

/** So many are asked for at a time. */
const AT_ONCE = 100;

const known = new Map<string, Signal<Decimals>>();
const waiting = new Set<string>();
let asking = false;

const of = (mint: string): Signal<Decimals> => {
  const found = known.get(mint) ?? signal<Decimals>(undefined);
  known.set(mint, found);
  return found;
};

async function askOn(): Promise<void> {
  const mints = [...waiting].slice(0, AT_ONCE);
  asking = mints.length > 0;
  if (!asking) return;
  const path = `/explorer/decimals?mints=${mints.join()}`;
  const told = await getJson<Record<string, number | null>>(path).catch(
    (error: Error): Record<string, null> | null => {
      const wait = waitAfter(error, null);
      if (wait !== null) askLater(wait);
      return wait === null ? {} : null;
    },
  );
  if (told === null) return;
  for (const mint of mints) {
    waiting.delete(mint);
    of(mint).value = told[mint] ?? null;
  }
  await askOn();
}

/** Asks again after a failure, for all that are still wanted then, while the tab is visible. */
function askLater(ms: number): void {
  setTimeout(() => {
    if (document.visibilityState === 'visible') void askOn();
    else askLater(1_000);
  }, ms);
}

/** Mints that are wanted at the same moment are asked for together. */
function askSoon(): void {
  if (asking) return;
  asking = true;
  setTimeout(askOn);
}

/** The decimals of a launched token, which rankings do not have: loaded for all rows together, and once for a tab. */
export function useDecimals(mint: string): Decimals {
  const decimals = of(mint).value;
  useEffect(() => {
    if (typeof of(mint).value === 'number') return;
    waiting.add(mint);
    askSoon();
    return () => {
      waiting.delete(mint);
    };
  }, [mint]);
  return decimals;
}
