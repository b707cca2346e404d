import type { AnalyticsResponse } from '../../../../schemas/responses/analytics.ts';
import { html } from '../html.ts';
import { bare } from '../parts/bare.ts';
import { Fig } from '../parts/figure.ts';
import { Empty } from '../parts/states.ts';
import { Text } from '../parts/text.ts';
import { shortKey, symbolOf } from '../text/words.ts';
import { inOrder } from './choose-quote.ts';
import { POLICIES } from './counts.ts';

type Row = AnalyticsResponse['protocolTotals']['byQuote'][number];

const COLUMNS = [
  ['feesClaimed', 'Fees claimed'],
  ['protocolFees', 'Protocol’s cut'],
  ['routedToLp', 'Liquidity compounded'],
  ['routedToBankroll', 'To bankrolls'],
  ['profitSwept', 'Profit swept'],
  ['paidToHolders', 'Spent on buybacks'],
  ['creditSpent', 'Inference'],
] as const;

/** @param reason why policies are not counted, where they are not */
export function Totals({ rows, reason }: { rows: Row[]; reason: string | undefined }) {
  if (rows.length === 0)
    return html`<${Empty} title="No policy yet.">The first one brings its quote asset.<//>`;
  return html`<div class="table-frame" tabindex="0" role="group" aria-label="Totals by quote asset"><table>
    <caption class="for-readers">Totals by quote asset</caption>
    <thead><tr>
      <th scope="col">Quote asset</th><th scope="col" class="number">Policies</th>
      ${COLUMNS.map(([name, head]) => html`<th key=${name} scope="col" class="number">${head}</th>`)}
    </tr></thead>
    <tbody>${inOrder(rows).map((row) => {
      const { decimals, quoteMint: mint } = row;
      const unit = { decimals, symbol: symbolOf(row.quoteSymbol, mint), mint };
      return html`<tr key=${row.quoteMint}>
        <th scope="row"><a href=${`/explorer/?quote=${row.quoteMint}`}>${row.quoteSymbol === null ? 'Unnamed' : html`<${Text} text=${row.quoteSymbol} />`}</a>
          <small><span class="unbroken">${shortKey(mint)}</span>, ${decimals === null ? 'decimals not read' : `${decimals} decimals`}</small></th>
        <td class="number"><${Fig} figure=${bare(row.policyCount, POLICIES, { reason })} reading=${{ kind: 'count' }} name="Policies" /></td>
        ${COLUMNS.map(([name, head]) => html`<td key=${name} class="number"><${Fig} figure=${row[name]} reading=${{ kind: 'amount', unit }} name=${head} bare /></td>`)}
      </tr>`;
    })}</tbody>
  </table></div>`;
}
