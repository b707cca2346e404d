import type { ProtocolHistoryResponse, QuoteHistory } from '../../../../schemas/responses/history.ts';
import { address } from '../address.ts';
import { Holdings } from '../history/holdings.ts';
import { Ranges, useSince } from '../history/ranges.ts';
import { rowOfHistory } from '../history/rows.ts';
import { html } from '../html.ts';
import { Empty, Loaded } from '../parts/states.ts';
import { useResource } from '../resource.ts';
import { plainText } from '../text/visible.ts';
import { ChooseQuote } from './choose-quote.ts';

const MINUTE_MS = 60_000;

/** What all policies of a quote asset have together, over time. */
export function Past() {
  const since = useSince();
  const past = useResource<ProtocolHistoryResponse>(`/analytics/history?from=${since}`, MINUTE_MS);
  const asked = address.value.query.get('quote');
  return html`<${Ranges} /><${Loaded} of=${past} rows=${6}>${({ items }: ProtocolHistoryResponse) => {
    const quotes = [...new Map(items.flatMap(({ byQuote }) => byQuote.map((of) => [of.quoteMint, of] as const))).values()];
    const most = quotes.toSorted((a, b) => b.policyCount - a.policyCount)[0];
    const quote = quotes.find(({ quoteMint }) => quoteMint === asked) ?? most;
    if (quote === undefined)
      return html`<${Empty} title="Nothing is known of this span.">The first policy starts the series.<//>`;
    const rows = items.flatMap(({ time, byQuote }) =>
      byQuote.filter(({ quoteMint }) => quoteMint === quote.quoteMint).map((of) => rowOfHistory({ time, ...of })),
    );
    return html`<${ChooseQuote} quotes=${quotes} chosen=${quote.quoteMint} />
      <${Holdings} rows=${rows} quote=${unitOf(quote)} name="Equity of all policies" from=${undefined} />`;
  }}<//>`;
}

const unitOf = ({ decimals, quoteSymbol }: QuoteHistory) => ({
  decimals,
  symbol: quoteSymbol === null ? null : plainText(quoteSymbol),
});
