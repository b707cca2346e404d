import type { AnalyticsResponse } from '../../../../schemas/responses/analytics.ts';
import type { StatusResponse } from '../../../../schemas/responses/status.ts';
import { html } from '../html.ts';
import { Section } from '../parts/section.ts';
import { Loaded } from '../parts/states.ts';
import { useResource } from '../resource.ts';
import { Bridge } from './bridge.ts';
import { Config } from './config.ts';
import { Counts } from './counts.ts';
import { Days } from './days.ts';
import { Indexer } from './indexer.ts';
import { Past } from './past.ts';
import { Totals } from './totals.ts';

const EVERY_MS = 10_000;

export function ProtocolPage() {
  const analytics = useResource<AnalyticsResponse>('/analytics', EVERY_MS);
  const status = useResource<StatusResponse>('/status', EVERY_MS);
  return html`
    <div class="page-head">
      <h1>Protocol</h1>
      <p class="lead">All policies together, and how well what is shown here keeps up with the chain.</p>
    </div>
    <${Loaded} of=${analytics} rows=${2}>${(data: AnalyticsResponse) => html`<${Counts} totals=${data.protocolTotals} />`}<//>
    <${Section} title="Equity of all policies" note="All that the policies of one quote asset have, and where it is. A rare venue account on chain that is registered with another asset is counted in by its base units.">
      <${Past} above=${analytics} />
    <//>
    <${Section} title="Day by day" note="In one quote asset at a time: amounts of different assets do not add up.">
      <${Loaded} of=${analytics} above=${analytics} rows=${6}>${(data: AnalyticsResponse) => html`<${Days} data=${data} />`}<//>
    <//>
    <${Section} title="Sent to venues" note="What policies sent to each venue, against what is reported to be there: the program itself cannot see it. Base units of all assets together: they are compared only where all of these have the same decimals.">
      <${Loaded} of=${analytics} above=${analytics} rows=${3}>${(data: AnalyticsResponse) => html`<${Bridge} venues=${data.bridgeFlow.perVenue} />`}<//>
    <//>
    <${Section} title="The indexer" note="How far the index is, what it misses, and how fresh its sources are.">
      <${Loaded} of=${status} above=${analytics} rows=${5}>${(data: StatusResponse) => html`<${Indexer} of=${status} status=${data} />`}<//>
    <//>
    <${Section} title="By quote asset">
      <${Loaded} of=${analytics} above=${analytics} rows=${5}>${(data: AnalyticsResponse) => html`<${Totals} rows=${data.protocolTotals.byQuote} reason=${data.protocolTotals.countsAbsentReason} />`}<//>
    <//>
    <${Section} title="Configuration">
      <${Loaded} of=${analytics} above=${analytics} rows=${4}>${(data: AnalyticsResponse) => html`<${Config} config=${data.protocolConfig} />`}<//>
    <//>
  `;
}
