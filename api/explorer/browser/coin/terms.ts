import type { CoinResponse } from '../../../../schemas/responses/coin/coin.ts';
import { html } from '../html.ts';
import { bare } from '../parts/bare.ts';
import { Fig } from '../parts/figure.ts';
import { Key } from '../parts/key.ts';
import { Text } from '../parts/text.ts';
import { plainText } from '../text/visible.ts';
import { classNames, hasOptionsAlone } from '../text/words.ts';

/** What the deployer chose, and who may do what. */
export function Terms({ coin }: { coin: CoinResponse }) {
  const { feeSplit, profitSplit, origin, quote } = coin;
  // The terms are in the same account as the counters, so they have the source and time of one.
  const { source, asOf } = coin.hwm;
  const term = (value: number, kind: 'share' | 'count', name: string) =>
    html`<${Fig} figure=${bare(value, source, { asOf })} reading=${{ kind }} name=${name} />`;
  const share = (bps: number, of: string, to: string) => html`${term(bps, 'share', `${of}, to ${to}`)} ${to}`;
  const mask = origin.assetClassMask;
  const rows: [name: string, value: unknown, means?: string | undefined][] = [
    [
      'Fees',
      html`${share(feeSplit.toBankrollBps, 'Fees', 'bankroll')}, ${share(feeSplit.toLpBps, 'Fees', 'liquidity')}`,
    ],
    [
      'Profit',
      html`${share(profitSplit.toHoldersBps, 'Profit', 'buybacks')}, ${share(profitSplit.toLpBps, 'Profit', 'liquidity')}, ${share(profitSplit.toBankrollBps, 'Profit', 'bankroll')}`,
    ],
    [
      'Risk',
      html`${term(coin.risk, 'count', 'Risk')} of 100`,
      'per cent of the equity up to which money is sent to work',
    ],
    mask !== null && hasOptionsAlone(mask)
      ? ['Moneyness', term(coin.targetLeverageX, 'count', 'Moneyness'), 'which options are bought, 1 to 5']
      : [
          'Leverage',
          html`${term(coin.targetLeverageX, 'count', 'Leverage')}×${coin.mode === 'Agent' ? '' : ' at most'}`,
        ],
    [
      'Origin',
      html`<${Text} text=${origin.name ?? 'not read yet'} />${mask !== null && html`<small class="under">${classNames(mask).join(', ')}</small>`}`,
      'what it may hold',
    ],
    [
      'Quote asset',
      html`<${Text} text=${quote.name ?? quote.symbol ?? 'Unnamed'} /> <${Key} value=${coin.quoteMint} name="Quote mint" />`,
      'what it counts its money in',
    ],
    [
      'Price of it',
      html`<${Fig} figure=${bare(quote.priceUsd, quote.priceSource ?? 'prices', {
        asOf: quote.priceObservedAt,
        reason: quote.priceAbsentReason,
      })} reading=${{ kind: 'price' }} name="Price of the quote asset, in US dollars" />
        ${quote.priceUsd === null && html`<small class="under">${plainText(quote.priceAbsentReason ?? '')}</small>`}`,
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
