import type { RankingRow } from '../../../../schemas/responses/rankings.ts';
import { html } from '../html.ts';
import { Fig } from '../parts/figure.ts';
import { symbolOf } from '../text/words.ts';
import { useDecimals } from './decimals.ts';

/** What was burned of the launched token, in whole tokens once its decimals are loaded. */
export function Burned({ row }: { row: RankingRow }) {
  const decimals = useDecimals(row.mint);
  const isAwaited = decimals === undefined && row.burned.absent !== true;
  const unit = { decimals: decimals ?? null, symbol: symbolOf(row.mintSymbol, row.mint), mint: row.mint };
  return html`<span class="burned">${
    isAwaited
      ? html`<span class="quiet" title="its decimals are being read">…</span>`
      : html`<${Fig} figure=${row.burned} reading=${{ kind: 'amount', unit }} name="Tokens burned" bare />`
  }</span>
    <small>${decimals === null ? 'base units' : unit.symbol}</small>`;
}
