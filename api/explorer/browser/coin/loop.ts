import { useContext } from 'preact/hooks';
import type { Figure } from '../../../../schemas/figure.ts';
import type { CoinResponse, PdaBalance } from '../../../../schemas/responses/coin/coin.ts';
import type { LoopResponse } from '../../../../schemas/responses/coin/loop.ts';
import { type Children, html } from '../html.ts';
import { Asked } from '../parts/asked.ts';
import { Fig } from '../parts/figure.ts';
import { shares } from '../text/amounts.ts';
import { percent } from '../text/words.ts';
import { equityNow } from './equity-now.ts';
import { heldInQuote } from './other-asset.ts';
import { inUnit, unitsOf } from './units.ts';

interface Part {
  name: string;
  figure: Figure;
  /** Which purse the money is in: each has one colour, in all steps. */
  purse: 'protocol' | 'lp' | 'bankroll' | 'local' | 'remote' | 'holders' | 'burned' | 'fees';
  unit?: 'base';
  /** The path of the API that the figure is from, where it is not that of the loop. */
  path?: string;
  note?: string;
}

/**
 * The way of the money, from left to right, or downwards in a narrow window; a bar divides each step as its sums do.
 * Money that waits between two steps is listed with the step where it waits: with it the steps add up.
 */
export function Loop({ coin, loop }: { coin: CoinResponse; loop: LoopResponse }) {
  const { step1_feesClaimed, step2_routed, step5_profit, step6_buyback, credit } = loop;
  const held = heldInQuote(loop.step4_deployed);
  const { feeSplit, profitSplit, counters } = coin;
  const { quote, base } = unitsOf(coin);
  const coinPath = `/coins/${encodeURIComponent(coin.mint)}`;
  const waiting = (kind: PdaBalance['kind'], name: string, purse: Part['purse']): Part[] =>
    coin.pdaBalances
      .filter((of) => of.kind === kind)
      .map(({ balance }) => ({ name, figure: balance, purse, path: coinPath }));
  const step = (title: string, parts: Part[], note?: Children, divided = true) => html`<li>
    <h3>${title}</h3>
    ${divided && html`<${Bar} parts=${parts} />`}
    <dl>${parts.map((part) => html`<${Line} key=${part.name} part=${part} coin=${coin} step=${title} />`)}</dl>
    ${note !== undefined && html`<p class="note">${note}</p>`}
  </li>`;
  return html`
    <ol class="loop">
      ${step(
        'Fees claimed',
        [
          { name: 'In the quote asset', figure: step1_feesClaimed.quoteLeg, purse: 'fees' },
          { name: 'In its own token', figure: step1_feesClaimed.baseLeg, purse: 'burned', unit: 'base' },
          ...waiting('quote_escrow', 'Not routed yet', 'fees'),
        ],
        'Creator fees of trading. A launch that forwards them has nothing to claim.',
        false,
      )}
      ${step(
        'Routed',
        [
          { name: 'Bankroll', figure: step2_routed.toBankroll, purse: 'bankroll' },
          { name: 'Liquidity', figure: step2_routed.toLp, purse: 'lp' },
          { name: 'Protocol', figure: step2_routed.protocolCut, purse: 'protocol' },
        ],
        `Terms: ${percent(feeSplit.toBankrollBps)} bankroll, ${percent(feeSplit.toLpBps)} liquidity, after the protocol’s cut.`,
      )}
      ${step(
        'Held now',
        [
          { name: 'At work on chain', figure: held.local, purse: 'local' },
          { name: 'At venues, attested', figure: held.remote, purse: 'remote' },
          { name: 'Unspent', figure: held.bankrollUnspent, purse: 'bankroll' },
        ],
        html`Together <${Fig} figure=${equityNow(held)} reading=${inUnit(quote)} name="Equity" />, the equity. Money is sent to work up to ${coin.risk}% of that; gains and sweeps then move the share.`,
      )}
      ${step(
        'Profit',
        [
          { name: 'Buybacks', figure: step5_profit.toHoldersStaged, purse: 'holders' },
          { name: 'Liquidity', figure: step5_profit.toLpFromProfit, purse: 'lp' },
        ],
        html`Above the high water mark of <${Fig} figure=${step5_profit.hwm} reading=${inUnit(quote)} name="High water mark" />.
          Terms: ${percent(profitSplit.toHoldersBps)} buybacks, ${percent(profitSplit.toLpBps)} liquidity, ${percent(profitSplit.toBankrollBps)} stays. Only what lies unspent is moved.`,
      )}
      ${step(
        'Bought back, burned',
        [
          { name: 'Spent', figure: step6_buyback.spent, purse: 'holders' },
          { name: 'Burned', figure: step6_buyback.burned, purse: 'burned', unit: 'base' },
          ...waiting('holder_rewards', 'Not spent yet', 'holders'),
        ],
        html`Nobody is paid: what is bought back is destroyed. With fees in its own token${' '}
          <${Asked.Provider} value=${coinPath}><${Fig} figure=${counters.tokensBurned} reading=${inUnit(base)} name="Tokens burned" /><//> are burned.`,
        false,
      )}
    </ol>
    <dl class="beside-loop">
      <div><dt>Liquidity compounded</dt><dd><${Asked.Provider} value=${coinPath}><${Fig} figure=${counters.routedToLp} reading=${inUnit(quote)} name="Liquidity compounded" /><//></dd></div>
      <div><dt>Inference paid for</dt><dd><${Fig} figure=${credit.spent} reading=${inUnit(quote)} name="Inference paid for" /></dd></div>
      <div><dt>Profit per unit of inference</dt><dd><${Fig} figure=${credit.returnPerCredit} reading=${{ kind: 'plain' }} name="Profit for each unit of inference" /></dd></div>
    </dl>`;
}

function Line({ part, coin, step }: { part: Part; coin: CoinResponse; step: string }) {
  const { quote, base } = unitsOf(coin);
  const asked = useContext(Asked);
  return html`<div>
    <dt><i class=${`purse ${part.purse}`} aria-hidden="true"></i>${part.name}</dt>
    <dd><${Asked.Provider} value=${part.path ?? asked}>
      <${Fig} figure=${part.figure} reading=${inUnit(part.unit === 'base' ? base : quote)} name=${`${step}: ${part.name}`} />
    <//></dd>
  </div>`;
}

/** How a step divides; hatched where a part is absent, empty where there is nothing to divide. */
function Bar({ parts }: { parts: Part[] }) {
  const unknown = parts.some(({ figure }) => figure.absent);
  const widths = shares(parts.map(({ figure }) => (figure.absent ? null : String(figure.value))));
  return html`<div class=${unknown ? 'bar unknown' : 'bar'} aria-hidden="true">
    ${widths?.map((width, at) => html`<i key=${at} class=${`purse ${parts[at]?.purse}`} style=${{ flexGrow: width }}></i>`)}
  </div>`;
}
