import type { CoinResponse, PdaBalance } from '../../../../schemas/responses/coin/coin.ts';
import { html } from '../html.ts';
import { Fig } from '../parts/figure.ts';
import { Key } from '../parts/key.ts';
import { inUnit, unitsOf } from './units.ts';

const NAMES: Record<PdaBalance['kind'], readonly [name: string, holds: string]> = {
  bankroll: ['Bankroll', 'the trading vault'],
  quote_escrow: ['Quote escrow', 'fees that wait to be routed'],
  base_escrow: ['Base escrow', 'fees in its own token, to be burned'],
  holder_rewards: ['Holder rewards', 'staged for the next buyback'],
};

export function Balances({ coin }: { coin: CoinResponse }) {
  const { quote, base } = unitsOf(coin);
  return html`<dl class="rows">
    ${coin.pdaBalances.map(({ kind, tokenAccount, balance, decimals }) => {
      const [name, holds] = NAMES[kind];
      const unit = kind === 'base_escrow' ? base : quote;
      return html`<div key=${kind}>
        <dt>${name} <${Key} value=${tokenAccount} name=${name} /><small>${holds}</small></dt>
        <dd><${Fig} figure=${balance} reading=${inUnit({ ...unit, decimals })} name=${name} /></dd>
      </div>`;
    })}
  </dl>`;
}
