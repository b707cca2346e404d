import { useEffect, useState } from 'preact/hooks';
import type { ProtocolHistoryResponse, QuoteHistory } from '../../../../schemas/responses/history.ts';
import { Holdings } from '../history/holdings.ts';
import { usePast } from '../history/past.ts';
import { Ranges, useSpan } from '../history/ranges.ts';
import { joined, type Row, rowOfHistory } from '../history/rows.ts';
import { html } from '../html.ts';
import { Empty, Loaded } from '../parts/states.ts';
import type { Resource } from '../resource.ts';
import { symbolOf } from '../text/words.ts';
import { ChooseQuote, chosenOf, inOrder } from './choose-quote.ts';

/** Each answer ends with an item of its own moment: these are kept as this page's samples. */
const EVERY_MS = 15_000;
const MOST_SEEN = 500;

type Item = ProtocolHistoryResponse['items'][number];

/** What all policies of a quote asset have together, over time. */
export function Past({ above }: { above: Resource<unknown> }) {
  const span = useSpan();
  const route = '/analytics/history';
  const { history: past, pathAt } = usePast<ProtocolHistoryResponse>(route, span, EVERY_MS);
  const [seen, setSeen] = useState<Item[]>([]);
  useEffect(() => {
    const last = past.data?.items.at(-1);
    if (last !== undefined) setSeen((before) => [...before, last].slice(-MOST_SEEN));
  }, [past.data]);
  return html`<${Ranges} /><${Loaded} of=${past} above=${above} rows=${6}>${(
    data: ProtocolHistoryResponse,
  ) => {
    const known = [...data.items, ...seen].flatMap(({ byQuote }) => byQuote);
    const quotes = inOrder([...new Map(known.map((of) => [of.quoteMint, of] as const)).values()]);
    const quote = chosenOf(quotes);
    if (quote === undefined)
      return html`<${Empty} title="Nothing is known of this span.">The first policy starts the series.<//>`;
    const rows = joined(rowsOf(data.items, quote), rowsOf(seen, quote), data.step, span.since);
    return html`<${ChooseQuote} quotes=${quotes} chosen=${quote.quoteMint} />
      <${Holdings} rows=${rows} quote=${unitOf(quote)} name="Equity of all policies" pathAt=${pathAt} from=${undefined} />`;
  }}<//>`;
}

const rowsOf = (items: readonly Item[], { quoteMint }: QuoteHistory): Row[] =>
  items.flatMap(({ time, byQuote }) =>
    byQuote.filter((of) => of.quoteMint === quoteMint).map((of) => rowOfHistory({ time, ...of })),
  );

const unitOf = ({ decimals, quoteSymbol, quoteMint }: QuoteHistory) => ({
  decimals,
  symbol: symbolOf(quoteSymbol, quoteMint),
  mint: quoteMint,
});
