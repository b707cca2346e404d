import type { CoinResponse } from '../../../../schemas/responses/coin/coin.ts';
import { html } from '../html.ts';
import { Key } from '../parts/key.ts';
import { Text } from '../parts/text.ts';
import { plainText } from '../text/visible.ts';
import { classNames, percent } from '../text/words.ts';

/** What the deployer chose, and who may do what. */
export function Terms({ coin }: { coin: CoinResponse }) {
  const { feeSplit, profitSplit, origin } = coin;
  const mask = origin.assetClassMask;
  const rows: [name: string, value: unknown, means?: string | undefined][] = [
    ['Fees', `${percent(feeSplit.toBankrollBps)} bankroll, ${percent(feeSplit.toLpBps)} liquidity`],
    [
      'Profit',
      `${percent(profitSplit.toHoldersBps)} holders, ${percent(profitSplit.toLpBps)} liquidity, ${percent(profitSplit.toBankrollBps)} bankroll`,
    ],
    ['Risk', `${coin.risk} of 100`, 'per cent of the bankroll that may be at work'],
    ['Leverage', `${coin.targetLeverageX}×${coin.mode === 'Agent' ? '' : ' at most'}`],
    [
      'Origin',
      html`<${Text} text=${origin.name ?? 'not read yet'} />${mask !== null && html`<small class="under">${classNames(mask).join(', ')}</small>`}`,
      'what it may hold',
    ],
    [
      'Quote asset',
      html`<${Text} text=${coin.quote.name ?? coin.quote.symbol ?? 'Unnamed'} /> <${Key} value=${coin.quoteMint} name="Quote mint" />`,
      'what it counts its money in',
    ],
    [
      'Price of it',
      coin.quote.priceUsd === null
        ? html`<span class="absent" title=${plainText(coin.quote.priceAbsentReason ?? '')}>absent</span> <small class="under">${plainText(coin.quote.priceAbsentReason ?? '')}</small>`
        : `$${coin.quote.priceUsd}`,
    ],
    [
      'Authority',
      html`<${Key} value=${coin.authority} name="Authority" />`,
      'changes open terms, names the agent, pauses; takes nothing out',
    ],
    [
      'Agent',
      coin.agent === null ? 'none' : html`<${Key} value=${coin.agent} name="Agent" />`,
      coin.agent === null ? undefined : 'funds registered venues and trades there; takes nothing out',
    ],
    ['Guardian', html`<${Key} value=${coin.guardian} name="Guardian" />`, 'may pause it, and nothing else'],
  ];
  return html`<dl class="rows">
    ${rows.map(
      ([name, value, means]) =>
        html`<div key=${name}><dt>${name}${means !== undefined && html`<small>${means}</small>`}</dt><dd>${value}</dd></div>`,
    )}
  </dl>`;
}
