import { type Signal, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { CoinResponse } from '../../../../schemas/responses/coin/coin.ts';
import { getJson } from '../resource.ts';

/** Undefined: not told yet. Null: nobody knows, or it could not be had. */
type Decimals = number | null | undefined;

/** So many are asked for at a time. */
const AT_ONCE = 4;

const known = new Map<string, Signal<Decimals>>();
const waiting = new Set<string>();
let asking = 0;

const of = (mint: string): Signal<Decimals> => {
  const found = known.get(mint) ?? signal<Decimals>(undefined);
  known.set(mint, found);
  return found;
};

function askOn(): void {
  for (const mint of waiting) {
    if (asking === AT_ONCE) return;
    waiting.delete(mint);
    asking += 1;
    getJson<CoinResponse>(`/coins/${encodeURIComponent(mint)}`)
      .then(({ pdaBalances }) => pdaBalances.find(({ kind }) => kind === 'base_escrow')?.decimals ?? null)
      .catch(() => null)
      .then((decimals) => {
        of(mint).value = decimals;
        asking -= 1;
        askOn();
      });
  }
}

/**
 * The decimals of a launched token, which no ranking has: its policy is asked for them, once a tab, when the element
 * comes into sight.
 */
export function useDecimals(mint: string) {
  const element = useRef<HTMLElement>(null);
  const decimals = of(mint).value;
  useEffect(() => {
    if (element.current === null || typeof decimals === 'number') return;
    const watched = new IntersectionObserver((seen) => {
      if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
      watched.disconnect();
      waiting.add(mint);
      askOn();
    });
    watched.observe(element.current);
    return () => {
      watched.disconnect();
      waiting.delete(mint);
    };
  }, [mint, decimals === undefined]);
  return { element, decimals };
}
