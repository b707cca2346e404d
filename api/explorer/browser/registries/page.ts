import type {
  ModelsResponse,
  OriginsResponse,
  QuotesResponse,
} from '../../../../schemas/responses/registries.ts';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { bare } from '../parts/bare.ts';
import { Fig } from '../parts/figure.ts';
import { Key } from '../parts/key.ts';
import { Section } from '../parts/section.ts';
import { Empty, Loaded } from '../parts/states.ts';
import { Text } from '../parts/text.ts';
import { useResource } from '../resource.ts';
import { shortAgo } from '../text/times.ts';
import { plainText, shortened } from '../text/visible.ts';
import { classNames } from '../text/words.ts';

const EVERY_MS = 15_000;

export function RegistriesPage() {
  const origins = useResource<OriginsResponse>('/origins', EVERY_MS);
  const models = useResource<ModelsResponse>('/models', EVERY_MS);
  const quotes = useResource<QuotesResponse>('/quotes', EVERY_MS);
  return html`
    <div class="page-head">
      <h1>Registries</h1>
      <p class="lead">What a policy can be made of: where it may trade, which model may trade for it, and what its token is quoted in.</p>
    </div>
    <div class="two-columns">
      <${Section} title="Origins" note="Asset classes that a policy may hold. Entries are only ever added.">
        <${Loaded} of=${origins}>${({ items, source }: OriginsResponse) =>
          items.length === 0
            ? html`<${Empty} title="None is read yet." />`
            : html`
          <div class="table-frame"><table>
            <thead><tr><th scope="col" class="number">Id</th><th scope="col">Name</th><th scope="col">Classes</th><th scope="col" class="number">Risk</th></tr></thead>
            <tbody>${items.map(
              (origin) => html`<tr key=${origin.id}>
              <td class="number">${origin.id}</td>
              <th scope="row"><a href=${`/explorer/?origin=${origin.id}`}><${Text} text=${origin.name} /></a></th>
              <td class="classes">${classNames(origin.asset_class_mask).join(', ')}</td>
              <td class="number">${count(origin.max_risk, source, `Highest risk in ${plainText(origin.name)}`)}</td>
            </tr>`,
            )}</tbody>
          </table></div>`}<//>
      <//>
      <${Section} title="Models" note="Who may trade a bankroll. A change leaves policies as they are.">
        <${Loaded} of=${models} above=${origins}>${({ items }: ModelsResponse) =>
          items.length === 0
            ? html`<${Empty} title="None is read yet." />`
            : html`
          <div class="table-frame"><table>
            <thead><tr><th scope="col" class="number">Id</th><th scope="col">Name</th><th scope="col">Provider</th><th scope="col">Changed</th></tr></thead>
            <tbody>${items.map(
              (model) => html`<tr key=${model.id}>
              <td class="number">${model.id}</td>
              <th scope="row"><a href=${`/explorer/?model=${model.id}`}><${Text} text=${model.name} /></a>
                ${!model.enabled && html` <span class="tag">Not enabled</span>`}</th>
              <td><${Text} text=${model.provider} /></td>
              <td class="quiet">${model.registeredAt === null ? html`<span class="absent">absent</span>` : shortAgo(model.registeredAt, now.value)}</td>
            </tr>`,
            )}</tbody>
          </table></div>`}<//>
      <//>
    </div>
    <${Section} title="Quote assets" note="What tokens may be launched against, as the launch venue’s catalogue has it.">
      <${Loaded} of=${quotes} above=${origins} rows=${10}>${(data: QuotesResponse) =>
        data.items.length === 0
          ? data.reason === undefined
            ? html`<${Empty} title="The catalogue lists no pair." />`
            : html`<${Empty} title="The catalogue is not there."><${Text} text=${data.reason} /><//>`
          : html`<${Quotes} rows=${data.items} source=${data.source} />`}<//>
    <//>
  `;
}

const count = (value: number, source: string, name: string) =>
  html`<${Fig} figure=${bare(value, source)} reading=${{ kind: 'count' }} name=${name} />`;

/** A number of the catalogue, which gives no times. */
const ofCatalogue = (value: number | null, source: string) =>
  bare(value === null ? null : value.toLocaleString('en', WRITTEN_OUT), source, {
    asOf: null,
    reason: 'the catalogue has no reading of it',
  });
const WRITTEN_OUT = { useGrouping: false, maximumSignificantDigits: 21 } as const;

function Quotes({ rows, source }: { rows: QuotesResponse['items']; source: string }) {
  const dollars = (value: number | null, name: string) =>
    html`<${Fig} figure=${ofCatalogue(value, source)} reading=${{ kind: 'usd' }} name=${name} />`;
  return html`<div class="table-frame" tabindex="0" role="group" aria-label="Quote assets"><table>
    <thead><tr>
      <th scope="col">Asset</th><th scope="col" class="roomy">Mint</th><th scope="col" class="roomy">Category</th><th scope="col" class="number roomy">Decimals</th>
      <th scope="col" class="number">Policies</th><th scope="col" class="number">Starts at</th>
      <th scope="col" class="number">Graduates at</th><th scope="col">Launches</th>
    </tr></thead>
    <tbody>${rows.map(
      (row) => html`<tr key=${row.mint}>
      <th scope="row"><${Text} text=${shortened(row.symbol ?? 'Unnamed')} />${row.name !== null && html`<small><${Text} text=${shortened(row.name)} /></small>`}</th>
      <td class="roomy"><${Key} value=${row.mint} name="Mint" /></td>
      <td class="roomy"><${Text} text=${row.category} /></td>
      <td class="number roomy">${count(row.decimals, source, 'Decimals')}</td>
      <td class="number">${row.policyCount === 0 ? '0' : html`<a href=${`/explorer/?quote=${row.mint}`}>${row.policyCount ?? 'not all known'}</a>`}</td>
      <td class="number">${dollars(row.startMarketCapUsd, 'Market cap at the start')}</td>
      <td class="number">${dollars(row.graduationMarketCapUsd, 'Market cap at graduation')}</td>
      <td>${row.launchable ? 'open' : html`<span class="quiet">closed</span>`}</td>
    </tr>`,
    )}</tbody>
  </table></div>`;
}
