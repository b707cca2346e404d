import type { AnalyticsResponse } from '../../../../schemas/responses/analytics.ts';
import { html } from '../html.ts';
import { bare } from '../parts/bare.ts';
import { Fig } from '../parts/figure.ts';
import { Text } from '../parts/text.ts';
import { counted } from '../text/words.ts';

/** How many policies there are, and of which kind. */
export function Counts({ totals }: { totals: AnalyticsResponse['protocolTotals'] }) {
  const { byQuote, countsAbsentReason: reason } = totals;
  const count = (value: number | null, name: string) =>
    html`<${Fig} figure=${bare(value, POLICIES, { reason })} reading=${{ kind: 'count' }} name=${name} />`;
  return html`${reason !== undefined && html`<p class="quiet">How many there are is not known: <${Text} text=${reason} /></p>`}
    <dl class="figures">
      <div><dt>Policies</dt><dd>${count(totals.policyCount, 'Policies')}</dd>
        <dd class="second">in ${counted(byQuote.length, 'quote asset')}</dd></div>
      <div><dt>Run by an agent</dt><dd>${count(totals.agentPolicyCount, 'Policies run by an agent')}</dd>
        <dd class="second">${count(totals.passivePolicyCount, 'Policies that follow a fixed rule')} follow a fixed rule</dd></div>
      <div><dt>Locked for good</dt><dd>${count(totals.lockedPolicyCount, 'Locked policies')}</dd>
        <dd class="second">terms that nobody can change</dd></div>
      <div><dt>Paused</dt><dd>${count(totals.pausedPolicyCount, 'Paused policies')}</dd>
        <dd class="second">by authority, guardian or attestation</dd></div>
    </dl>`;
}

/** The source of counts of policies. */
export const POLICIES = 'chain:Policy accounts, counted';
