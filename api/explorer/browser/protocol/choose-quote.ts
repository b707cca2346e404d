import { ask } from '../address.ts';
import { html } from '../html.ts';
import { plainText } from '../text/visible.ts';
import { shortKey } from '../text/words.ts';

interface Quote {
  quoteMint: string;
  quoteSymbol: string | null;
  decimals: number | null;
}

/** Amounts of one asset at a time; which one stands in the address. */
export function ChooseQuote({ quotes, chosen }: { quotes: readonly Quote[]; chosen: string }) {
  return html`<div class="sorts" role="group" aria-label="Quote asset">
    ${quotes.map(
      ({ quoteMint, quoteSymbol, decimals }) => html`<button key=${quoteMint} type="button" title=${quoteMint}
        aria-pressed=${quoteMint === chosen} onClick=${() => ask({ quote: quoteMint }, 'replace')}>
        ${plainText(quoteSymbol ?? shortKey(quoteMint))}
        ${quotes.filter((other) => other.quoteSymbol === quoteSymbol).length > 1 && html` <small>${decimals} decimals</small>`}
      </button>`,
    )}
  </div>`;
}
