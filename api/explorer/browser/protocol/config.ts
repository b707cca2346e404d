import type { ProtocolConfigView } from '../../../../schemas/responses/analytics.ts';
import { html } from '../html.ts';
import { Key } from '../parts/key.ts';
import { classNames, percent } from '../text/words.ts';

const UNREAD = html`<span class="absent" title="the protocol’s configuration is not read yet">absent</span>`;

export function Config({ config }: { config: ProtocolConfigView }) {
  const share = (bps: number | null) => (bps === null ? UNREAD : percent(bps));
  const risks = config.minRiskForClass
    ?.map((risk, bit) => [classNames(1 << bit)[0], risk] as const)
    .filter(([, risk]) => risk > 0);
  const rows: [name: string, value: unknown][] = [
    [
      'Money moves',
      config.paused === null ? UNREAD : config.paused ? html`<span class="tag warn">Paused</span>` : 'yes',
    ],
    ['Protocol’s cut of what is routed', share(config.protocolFeeBps)],
    ['Most that may go to a bankroll', share(config.maxBankrollBps)],
    ['Attestation may jump by', share(config.maxDeviationBps)],
    [
      'Attestation is stale after',
      config.maxRemoteStaleness === null
        ? UNREAD
        : config.maxRemoteStaleness === '0'
          ? 'not configured'
          : `${config.maxRemoteStaleness} s`,
    ],
    [
      'Least risk for a class',
      risks === undefined ? UNREAD : risks.map(([name, risk]) => `${name} ${risk}`).join(', ') || 'none',
    ],
    ['Launchpad program', html`<${Key} value=${config.launchpadProgram} name="Launchpad program" />`],
    ['Pool program', html`<${Key} value=${config.ammProgram} name="Pool program" />`],
  ];
  return html`<dl class="rows">
    ${rows.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}
