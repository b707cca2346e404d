import { useContext } from 'preact/hooks';
import type { CoinResponse } from '../../../../schemas/responses/coin/coin.ts';
import type { LoopResponse } from '../../../../schemas/responses/coin/loop.ts';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { Asked } from '../parts/asked.ts';
import { Fig } from '../parts/figure.ts';
import { Key } from '../parts/key.ts';
import { Text } from '../parts/text.ts';
import { TokenMark } from '../parts/token.ts';
import type { Resource } from '../resource.ts';
import { TAGS } from '../text/meanings.ts';
import { ago } from '../text/times.ts';
import { shortened } from '../text/visible.ts';
import { percent, shortKey } from '../text/words.ts';
import { equityNow } from './equity-now.ts';
import { heldInQuote } from './other-asset.ts';
import { inUnit, unitsOf } from './units.ts';

/** What a pool's status means; there is a market cap on the curve only. */
const POOLS: Record<number, string> = { 0: 'on the curve', 1: 'migrating', 2: 'graduated to a pool' };

/** What the policy is, for a reader who has never heard of one. */
const leadOf = ({ mode, feeSplit, profitSplit }: CoinResponse): string =>
  [
    `${percent(feeSplit.toBankrollBps)} of what trading this token brings in its quote asset, after the protocol’s cut, fill its bankroll, a vault that the program owns.`,
    mode === 'Agent'
      ? 'An agent puts it to work at the venues below, and says why in its posts.'
      : 'A fixed rule puts it to work: nobody decides.',
    profitSplit.toHoldersBps === 0
      ? 'By its terms no profit buys the token back now.'
      : `Of each profit ${percent(profitSplit.toHoldersBps)}, as far as it lies in the vault, buys the token back and burns it.`,
  ].join(' ');

/** With a longer name, or a symbol longer than that of a list, the figures would begin below the window. */
const MOST_OF_NAME = 200;

/** What the head has of name and symbol only in part. */
function WholeName({ coin: { name, symbol } }: { coin: CoinResponse }) {
  const isWhole =
    shortened(name ?? '', MOST_OF_NAME) === (name ?? '') && shortened(symbol ?? '') === (symbol ?? '');
  if (isWhole) return null;
  return html`<details class="whole-name"><summary>The whole name and symbol</summary>
    ${name !== null && html`<p><${Text} text=${name} /></p>`}
    ${symbol !== null && html`<p><${Text} text=${symbol} /></p>`}
  </details>`;
}

/** Which policy this is, its state, and its four main numbers. */
export function Head({ coin, loop }: { coin: CoinResponse; loop: Resource<LoopResponse> }) {
  const { quote, base } = unitsOf(coin);
  return html`<div class="coin-head">
      <${TokenMark} symbol=${coin.symbol} mint=${coin.mint} large />
      <div>
        <h1>${coin.name === null && coin.symbol === null ? html`Unnamed ${shortKey(coin.mint)}` : html`<${Text} text=${shortened(coin.name ?? coin.symbol ?? '', MOST_OF_NAME)} />`}</h1>
        <p class="under-name">
          ${coin.symbol !== null && html`<${Text} text=${shortened(coin.symbol)} />`}
          <${Key} value=${coin.mint} name="Mint" />
          ${coin.updatedAt !== null && html`<span>last change ${ago(coin.updatedAt, now.value)}</span>`}
        </p>
        <${WholeName} coin=${coin} />
      </div>
      <p class="tags">
        <span class=${coin.mode === 'Agent' ? 'tag agent' : 'tag'} title=${TAGS[coin.mode]}>${coin.mode}</span>
        ${coin.mode === 'Agent' && html`<span class="tag" title="The model that decides"><${Text} text=${coin.model.name ?? `model ${coin.model.id}`} /></span>`}
        ${coin.locked && html`<span class="tag" title=${TAGS.Locked}>Locked</span>`}
        ${coin.paused && html`<span class="tag warn" title=${TAGS.Paused}>Paused</span>`}
        ${coin.protocolPaused && html`<span class="tag warn">Protocol paused</span>`}
      </p>
    </div>
    <p class="lead">${leadOf(coin)}</p>
    ${
      coin.moneyPathsFrozen === true &&
      html`<p class="notice old" role="status">Money does not move: ${
        coin.paused ? 'this policy is paused' : 'the protocol is paused'
      }. Figures go on being read.</p>`
    }
    <dl class="figures">
      <div><dt>Market cap</dt>
        ${
          coin.marketCap.usd.absent && coin.marketCap.quote.absent
            ? html`<dd><${Fig} figure=${coin.marketCap.quote} reading=${inUnit(quote)} name="Market cap" /></dd>
                <dd class="second">${POOLS[coin.marketCap.poolStatus ?? -1] ?? 'no pool'}</dd>`
            : html`<dd><${Fig} figure=${coin.marketCap.usd} reading=${{ kind: 'usd' }} name="Market cap" /></dd>
                <dd class="second"><${Fig} figure=${coin.marketCap.quote} reading=${inUnit(quote)} name="Market cap, in the quote asset" /></dd>`
        }</div>
      <${Equity} coin=${coin} loop=${loop} />
      <div><dt>Profit swept</dt><dd><${Fig} figure=${coin.counters.profitSwept} reading=${inUnit(quote)} name="Profit swept" /></dd>
        <dd class="second">high water mark <${Fig} figure=${coin.hwm} reading=${inUnit(quote)} name="High water mark" bare=${quote.decimals !== null} /></dd></div>
      <div><dt>Burned</dt><dd><${Fig} figure=${coin.counters.tokensBurned} reading=${inUnit(base)} name="Tokens burned" /></dd>
        <dd class="second">for <${Fig} figure=${coin.counters.paidToHolders} reading=${inUnit(quote)} name="Spent on buying back" /></dd></div>
    </dl>`;
}

/** All that the policy holds, and the part that lies in its vault, which is known before what is at work is. */
function Equity({ coin, loop }: { coin: CoinResponse; loop: Resource<LoopResponse> }) {
  const asked = useContext(Asked);
  const inQuote = inUnit(unitsOf(coin).quote);
  const held = loop.data === null ? null : heldInQuote(loop.data.step4_deployed);
  const unspent = held?.bankrollUnspent ?? coin.pdaBalances.find(({ kind }) => kind === 'bankroll')?.balance;
  return html`<${Asked.Provider} value=${held === null ? asked : loop.path}>
    <div><dt>Equity</dt>
      <dd>${held === null ? html`<span class="quiet" title="what is at work is not read yet">…</span>` : html`<${Fig} figure=${equityNow(held)} reading=${inQuote} name="Equity" />`}</dd>
      <dd class="second">${unspent !== undefined && html`<${Fig} figure=${unspent} reading=${inQuote} name="Bankroll, unspent" /> of it unspent`}</dd></div>
  <//>`;
}
