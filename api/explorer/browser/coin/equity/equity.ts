import { useEffect, useMemo, useState } from 'preact/hooks';
import type { CoinResponse } from '../../../../../schemas/responses/coin/coin.ts';
import type { LoopResponse } from '../../../../../schemas/responses/coin/loop.ts';
import type { AgentPost } from '../../../../../schemas/responses/coin/posts.ts';
import type { CoinHistoryResponse } from '../../../../../schemas/responses/history.ts';
import { address, ask } from '../../address.ts';
import { html } from '../../html.ts';
import { Canvas } from '../../parts/canvas.ts';
import type { Place } from '../../parts/draw.ts';
import { Numbers } from '../../parts/numbers.ts';
import { type Pin, Pins } from '../../parts/pins.ts';
import { Text } from '../../parts/text.ts';
import { type Resource, useResource } from '../../resource.ts';
import { stamp } from '../../text/times.ts';
import { unitsOf } from '../units.ts';
import {
  type Amount,
  cellOf,
  equityOf,
  joined,
  localOf,
  onChainOf,
  type Row,
  rowOfLoop,
  rowsOfHistory,
  withSample,
} from './rows.ts';

const HEIGHT_PX = 240;
const MINUTE_MS = 60_000;
const MOST_SAMPLES = 600;
/** The parts of the equity, each over those before it, in the colours of the money loop. */
const PARTS = [
  ['Unspent', 'bankroll'],
  ['At work on chain', 'local'],
  ['At venues, attested', 'remote'],
] as const;
const HEADS = ['Equity', ...PARTS.map(([name]) => name), 'High water mark'];

const RANGES = { day: ['24 hours', 1], week: ['7 days', 7], quarter: ['90 days', 90] } as const;
type Range = keyof typeof RANGES;
const DAY_MS = 86_400_000;

interface EquityProps {
  coin: CoinResponse;
  loop: Resource<LoopResponse>;
  posts: readonly AgentPost[];
}

/** The equity over time and what it is made of, with the posts of its agent where they were made. */
export function Equity({ coin, loop, posts }: EquityProps) {
  const chosen = address.value.query.get('range') ?? '';
  const range: Range = chosen in RANGES ? (chosen as Range) : 'week';
  const since = useMemo(() => new Date(Date.now() - RANGES[range][1] * DAY_MS).toISOString(), [range]);
  const history = useResource<CoinHistoryResponse>(
    `/coins/${encodeURIComponent(coin.mint)}/history?from=${since}`,
    MINUTE_MS,
  );
  const [seen, setSeen] = useState<Row[]>([]);
  const [place, setPlace] = useState<Place | null>(null);
  const { data, at } = loop;
  useEffect(() => {
    if (data !== null && at !== null) setSeen((rows) => withSample(rows, rowOfLoop(data, at), MOST_SAMPLES));
  }, [data, at]);
  const rows = joined(history.data === null ? [] : rowsOfHistory(history.data), seen);
  const firstPost = posts
    .map(({ createdAt }) => createdAt)
    .filter((time) => time >= since)
    .toSorted()[0];
  const { quote } = unitsOf(coin);
  const unit = quote.decimals === null ? 'base units' : (quote.symbol ?? 'the quote asset');
  const texts = (of: (row: Row) => Amount) => rows.map((row) => cellOf(of(row), quote.decimals).value);
  const drawing = {
    times: rows.map(({ time }) => time),
    series: [
      { values: texts(equityOf), colour: 'purse-remote', look: 'area' as const },
      { values: texts(onChainOf), colour: 'purse-local', look: 'area' as const },
      { values: texts(({ bankroll }) => bankroll), colour: 'purse-bankroll', look: 'area' as const },
      { values: texts(({ hwm }) => hwm), colour: 'ink', look: 'mark' as const },
    ],
    height: HEIGHT_PX,
    ...(firstPost === undefined ? {} : { from: firstPost }),
    onPlaced: (next: Place) =>
      setPlace((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next)),
  };
  const label = `Equity over time, in ${unit}`;
  return html`
    <div class="sorts" role="group" aria-label="Span of time">
      ${(Object.keys(RANGES) as Range[]).map(
        (name) => html`<button key=${name} type="button" aria-pressed=${name === range}
        onClick=${() => ask({ range: name === 'week' ? null : name }, 'replace')}>${RANGES[name][0]}</button>`,
      )}
    </div>
    ${
      history.data === null &&
      history.state === 'failed' &&
      html`<p class="notice old" role="status">The past cannot be shown now: <${Text} text=${history.failure ?? ''} />. What is seen from here on is drawn.</p>`
    }
    <figure class="chart equity">
      <p class="legend">
        ${PARTS.map(([name, purse]) => html`<span key=${purse}><i class=${`purse ${purse}`} aria-hidden="true"></i>${name}</span>`)}
        <span><i class="dashed" aria-hidden="true"></i>High water mark</span>
      </p>
      <${Canvas} label=${label} drawing=${drawing}><${Pins} pins=${posts.map(pinOf)} place=${place} /><//>
      <${Numbers} label=${label} timeName="Time, UTC" heads=${HEADS.map((head) => `${head}, ${unit}`)}
        rows=${rows.map((row) => ({
          time: stamp(row.time),
          cells: [equityOf(row), row.bankroll, localOf(row), row.attested, row.hwm].map((amount) =>
            cellOf(amount, quote.decimals),
          ),
        }))} />
    </figure>`;
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
