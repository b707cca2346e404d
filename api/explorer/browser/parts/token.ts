import { html } from '../html.ts';
import { lettersOf, shortened } from '../text/visible.ts';
import { shortKey } from '../text/words.ts';
import { Text } from './text.ts';

const HUES = 8;

/** Letters in a colour made of the mint, in place of a picture from another address. */
export function TokenMark({
  symbol,
  mint,
  large = false,
}: {
  symbol: string | null;
  mint: string;
  large?: boolean;
}) {
  const hue = [...mint].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 9973, 7) % HUES;
  return html`<span class=${`token-mark hue-${hue}${large ? ' large' : ''}`} aria-hidden="true">
    ${lettersOf(symbol, mint)}
  </span>`;
}

/** A token's name in a line of a list, shortened: the page of the coin has all of it. */
export function TokenName({
  name,
  symbol,
  mint,
}: {
  name: string | null;
  symbol: string | null;
  mint: string;
}) {
  if (name === null && symbol === null)
    return html`<span class="token-name"><b class="unnamed">Unnamed</b><small>${shortKey(mint)}</small></span>`;
  return html`<span class="token-name">
    <b><${Text} text=${shortened(name ?? symbol ?? '')} /></b>
    <small>${symbol === null ? shortKey(mint) : html`<${Text} text=${shortened(symbol)} />`}</small>
  </span>`;
}
