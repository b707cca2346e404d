import type { Figure } from '../../../../schemas/figure.ts';
import { html } from '../html.ts';

/** Two bars on one scale: what was sent out above what is attested to be there; hatched where one is absent. */
export function Against({ bridgedOut, attested }: { bridgedOut: Figure; attested: Figure }) {
  const [sent, there] = [amountOf(bridgedOut), amountOf(attested)];
  const most = sent - there < 0n ? there : sent;
  const bar = (figure: Figure, purse: string) => {
    const nothing = !figure.absent && amountOf(figure) === 0n;
    const width =
      figure.absent || nothing || most === 0n ? 100 : Number((amountOf(figure) * 1000n) / most) / 10;
    const look = figure.absent ? 'unknown' : nothing ? 'nothing' : `purse ${purse}`;
    return html`<i class=${look} style=${{ width: `${width}%` }}></i>`;
  };
  return html`<div class="against" aria-hidden="true">${bar(bridgedOut, 'bridged')}${bar(attested, 'remote')}</div>`;
}

const amountOf = ({ value }: Figure): bigint => BigInt(value ?? 0);
