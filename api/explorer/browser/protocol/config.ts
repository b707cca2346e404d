import type { ProtocolConfigView } from '../../../../schemas/responses/analytics.ts';
import { html } from '../html.ts';
import { bare } from '../parts/bare.ts';
import { Fig } from '../parts/figure.ts';
import { Key } from '../parts/key.ts';
import { PROGRAM_ID } from '../served.ts';
import { classNames } from '../text/words.ts';

const UNREAD = 'the protocol’s configuration is not read yet';
const AS_SET = ', as set for this service, not read on chain yet';

export function Config({ config }: { config: ProtocolConfigView }) {
  const { source, asOf } = config;
  const told = (value: number | string | null, kind: 'share' | 'count', name: string) =>
    html`<${Fig} figure=${bare(value, source, { asOf, reason: UNREAD })} reading=${{ kind }} name=${name} />`;
  const share = (name: string, bps: number | null) => [name, told(bps, 'share', name)] as const;
  const isUnread = config.paused === null;
  const program = (name: string, address: string) =>
    [name, html`<${Key} value=${address} name=${name} />${isUnread && AS_SET}`] as const;
  const risks = config.minRiskForClass
    ?.map((risk, bit) => [classNames(1 << bit)[0] ?? '', risk] as const)
    .filter(([, risk]) => risk > 0);
  const { maxRemoteStaleness: stale } = config;
  const rows: (readonly [name: string, value: unknown])[] = [
    [
      'Money moves',
      isUnread
        ? told(null, 'count', 'Money moves')
        : config.paused
          ? html`<span class="tag warn">Paused</span>`
          : 'yes',
    ],
    share('Protocol’s cut of what is routed', config.protocolFeeBps),
    share('Most that may go to a bankroll', config.maxBankrollBps),
    share('Attestation may jump by', config.maxDeviationBps),
    [
      'Attestation is stale after',
      stale === '0'
        ? 'not configured'
        : html`${told(stale, 'count', 'Attestation is stale after, seconds')}${stale !== null && ' s'}`,
    ],
    [
      'Least risk for a class',
      risks === undefined
        ? told(null, 'count', 'Least risk for a class')
        : risks.length === 0
          ? 'none'
          : risks.map(
              ([name, risk], at) =>
                html`${at > 0 && ', '}${name} ${told(risk, 'count', `Least risk for the class ${name}`)}`,
            ),
    ],
    ['Indexed program', html`<${Key} value=${PROGRAM_ID} name="Indexed program" />`],
    program('Launchpad program', config.launchpadProgram),
    program('Pool program', config.ammProgram),
  ];
  return html`<dl class="rows">
    ${rows.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}
