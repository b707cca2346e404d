import { address, ask } from '../address.ts';
import { html } from '../html.ts';
import { namedAlike, shortKey, symbolOf } from '../text/words.ts';

interface Quote {
  quoteMint: string;
  quoteSymbol: string | null;
  decimals: number | null;
  policyCount: number | null;
}

/** Quote assets with the most policies first; among equals those with a symbol first. */
export const inOrder = <T extends Quote>(quotes: readonly T[]): T[] =>
  quotes.toSorted(
    (a, b) =>
      (b.policyCount ?? 0) - (a.policyCount ?? 0) ||
      Number(a.quoteSymbol === null) - Number(b.quoteSymbol === null) ||
      (symbolOf(a.quoteSymbol, a.quoteMint) < symbolOf(b.quoteSymbol, b.quoteMint) ? -1 : 1),
  );

/** The one that the address names, or the first. */
export function chosenOf<T extends Quote>(quotes: readonly T[]): T | undefined {
  const asked = address.value.query.get('quote');
  return quotes.find(({ quoteMint }) => quoteMint === asked) ?? quotes[0];
}

/** Buttons to choose the quote asset whose amounts are shown; the address holds which. */
export function ChooseQuote({ quotes, chosen }: { quotes: readonly Quote[]; chosen: string }) {
  const alike = namedAlike(quotes);
  return html`<div class="sorts" role="group" aria-label="Quote asset">
    ${quotes.map(
      ({ quoteMint, quoteSymbol }) => html`<button key=${quoteMint} type="button" title=${quoteMint}
        aria-pressed=${quoteMint === chosen} onClick=${() => ask({ quote: quoteMint }, 'replace')}>
        <bdi>${symbolOf(quoteSymbol, quoteMint)}</bdi>
        ${alike.has(quoteMint) && html` <small>${shortKey(quoteMint)}</small>`}
      </button>`,
    )}
  </div>`;
}
