import type { Figure } from '../../../../schemas/figure.ts';
import { html } from '../html.ts';

/** What was sent out above what is claimed to be there, on one scale; hatched where it cannot be told. */
export function Against({ bridgedOut, attested }: { bridgedOut: Figure; attested: Figure }) {
  const [sent, there] = [amountOf(bridgedOut), amountOf(attested)];
  const most = sent - there < 0n ? there : sent;
  const bar = (figure: Figure, purse: string) => {
    const width = figure.absent ? 100 : most === 0n ? 0 : Number((amountOf(figure) * 1000n) / most) / 10;
    return html`<i class=${figure.absent ? 'unknown' : `purse ${purse}`} style=${{ width: `${width}%` }}></i>`;
  };
  return html`<div class="against" aria-hidden="true">${bar(bridgedOut, 'bridged')}${bar(attested, 'remote')}</div>`;
}

const amountOf = ({ value }: Figure): bigint => BigInt(value ?? 0);
