import { useEffect, useRef, useState } from 'preact/hooks';
import type {
  ModelsResponse,
  OriginsResponse,
  QuotesResponse,
} from '../../../../schemas/responses/registries.ts';
import { ask } from '../address.ts';
import { html } from '../html.ts';
import { useResource } from '../resource.ts';
import { plainText } from '../text/visible.ts';
import { shortKey } from '../text/words.ts';
import { FILTERS } from './question.ts';

type Option = readonly [value: string, name: string];

const TYPING_MS = 200;
const LATE_MS = 300;

/**
 * Search and six filters. The options of three of them are loaded after the ranking and what its rows need: a page is
 * of use without them.
 */
export function Filters({ query, isRanked }: { query: URLSearchParams; isRanked: boolean }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!isRanked) return;
    const timer = setTimeout(() => setLate(true), LATE_MS);
    return () => clearTimeout(timer);
  }, [isRanked]);
  const origins = useResource<OriginsResponse>(late ? '/origins' : null);
  const models = useResource<ModelsResponse>(late ? '/models' : null);
  const quotes = useResource<QuotesResponse>(late ? '/quotes' : null);
  const originOptions = (origins.data?.items ?? []).map(
    ({ id, name }): Option => [String(id), plainText(name)],
  );
  const modelOptions = (models.data?.items ?? []).map(
    ({ id, name }): Option => [String(id), plainText(name)],
  );
  const quoteOptions = (quotes.data?.items ?? [])
    .filter(({ policyCount }) => policyCount !== 0)
    .map(
      ({ mint, symbol, decimals }): Option => [
        mint,
        `${plainText(symbol ?? shortKey(mint))} (${shortKey(mint)}, ${decimals})`,
      ],
    );
  return html`<form class="filters" role="search" onSubmit=${(event: Event) => event.preventDefault()}>
    <${Search} value=${query.get('search') ?? ''} />
    <${Choice} query=${query} name="mode" label="Mode" options=${[['Agent', 'Agent'], ['Passive', 'Passive']]} />
    <${Choice} query=${query} name="quote" label="Quote" options=${quoteOptions} />
    <${Choice} query=${query} name="origin" label="Origin" options=${originOptions} />
    <${Choice} query=${query} name="model" label="Model" options=${[['0', 'None (passive)'], ...modelOptions]} />
    <${Choice} query=${query} name="locked" label="Terms" options=${[['true', 'Locked'], ['false', 'Open']]} />
    <${Choice} query=${query} name="paused" label="Pause" options=${[['true', 'Paused'], ['false', 'Running']]} />
  </form>`;
}

/** Placed beside the sorts, where its coming and going moves nothing. */
export function ClearFilters({ query }: { query: URLSearchParams }) {
  if (FILTERS.every((name) => (query.get(name) ?? '') === '')) return null;
  const clear = () => ask(Object.fromEntries([...FILTERS, 'offset'].map((name) => [name, null])));
  return html`<button type="button" class="plain" onClick=${clear}>Clear filters</button>`;
}

function Choice({
  query,
  name,
  label,
  options,
}: {
  query: URLSearchParams;
  name: string;
  label: string;
  options: Option[];
}) {
  const value = query.get(name) ?? '';
  // The value in the address is an option too, also while its name is not known yet.
  const known =
    value === '' || options.some(([option]) => option === value)
      ? options
      : [...options, [value, plainText(value)] as const];
  return html`<label class=${value === '' ? 'choice' : 'choice chosen'}>
    <span>${label}</span>
    <select value=${value} onChange=${(event: Event) => ask({ [name]: (event.target as HTMLSelectElement).value, offset: null })}>
      <option value="">Any</option>
      ${known.map(([option, text]) => html`<option key=${option} value=${option}>${text}</option>`)}
    </select>
  </label>`;
}

function Search({ value }: { value: string }) {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (field.current !== null && field.current !== document.activeElement) field.current.value = value;
  }, [value]);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (
        event.key !== '/' ||
        event.ctrlKey ||
        event.metaKey ||
        (event.target as Element).matches('input, select')
      )
        return;
      event.preventDefault();
      field.current?.select();
    };
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);
  const typed = (event: Event) => {
    const text = (event.target as HTMLInputElement).value.trim();
    clearTimeout(timer.current);
    timer.current = setTimeout(() => ask({ search: text, offset: null }, 'replace'), TYPING_MS);
  };
  return html`<label class="search">
    <span class="for-readers">Search by name, symbol or mint</span>
    <input ref=${field} type="search" placeholder="Name, symbol or mint" defaultValue=${value} autocomplete="off"
      spellcheck=${false} maxlength="100" onInput=${typed} />
  </label>`;
}
