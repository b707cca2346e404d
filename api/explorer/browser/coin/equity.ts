import type { CoinResponse } from '../../../../schemas/responses/coin/coin.ts';
import type { LoopResponse } from '../../../../schemas/responses/coin/loop.ts';
import type { AgentPost } from '../../../../schemas/responses/coin/posts.ts';
import type { CoinHistoryResponse } from '../../../../schemas/responses/history.ts';
import type { PlotArea } from '../charts/draw.ts';
import { type Pin, Pins } from '../charts/pins.ts';
import { Holdings } from '../history/holdings.ts';
import { usePast } from '../history/past.ts';
import { Ranges, useSpan } from '../history/ranges.ts';
import { joined, rowOfHistory } from '../history/rows.ts';
import { html } from '../html.ts';
import { Text } from '../parts/text.ts';
import type { Resource } from '../resource.ts';
import { pastInQuote } from './other-asset.ts';
import { useSamples } from './samples.ts';
import { unitsOf } from './units.ts';

const MINUTE_MS = 60_000;

interface EquityProps {
  coin: CoinResponse;
  loop: Resource<LoopResponse>;
  posts: readonly AgentPost[];
}

/** The equity over time: its history, and the samples that this page has taken since; pins mark its agent's posts. */
export function Equity({ coin, loop, posts }: EquityProps) {
  const span = useSpan();
  const route = `/coins/${encodeURIComponent(coin.mint)}/history`;
  const { history, pathAt } = usePast<CoinHistoryResponse>(route, span, MINUTE_MS);
  const seen = useSamples(loop);
  const pins = posts.filter(({ createdAt }) => createdAt >= span.since).map(pinOf);
  const past = history.data === null ? [] : pastInQuote(history.data).map(rowOfHistory);
  const rows = joined(past, seen, history.data?.step ?? 'hour', span.since);
  return html`
    <${Ranges} />
    ${
      history.data === null &&
      history.state === 'failed' &&
      html`<p class="notice old" role="status">The past cannot be shown now: <${Text} text=${history.failure ?? ''} />. What is seen from here on is drawn.</p>`
    }
    ${
      history.state === 'loading'
        ? html`<div class="skeleton chart-awaited" role="status" aria-label="Loading"><span></span></div>`
        : html`<${Holdings} rows=${rows} quote=${unitsOf(coin).quote} name="Equity" pathAt=${pathAt} from=${pins.map(({ time }) => time).toSorted()[0]}
      over=${(place: PlotArea) => html`<${Pins} pins=${pins} place=${place} />`} />`
    }`;
}

const pinOf = ({ id, createdAt, kind, text, model }: AgentPost): Pin => ({
  id,
  time: createdAt,
  kind,
  shown: {
    name: `Post of the agent: ${kind}`,
    value: null,
    exact: '',
    unit: '',
    base: null,
    source: 'written under a session of Policy.agent',
    asOf: createdAt,
    absent: false,
    reason: null,
    more: [['Said', text], ...(model.name === null ? [] : [['Model', model.name] as const])],
  },
});
