import type { AnalyticsResponse } from '../../../../schemas/responses/analytics.ts';
import { html } from '../html.ts';
import { Against } from '../parts/against.ts';
import { bare } from '../parts/bare.ts';
import { Fig } from '../parts/figure.ts';
import { Empty } from '../parts/states.ts';
import { Text } from '../parts/text.ts';
import { readable } from '../text/words.ts';

type Venue = AnalyticsResponse['bridgeFlow']['perVenue'][number];

/**
 * A venue's accounts may be of several assets, whose base units are summed: the numbers are labelled as base units.
 * Where they cannot be compared they are not drawn as bars either.
 */
const BASE = { kind: 'amount', unit: { decimals: null, symbol: null } } as const;

export function Bridge({ venues }: { venues: Venue[] }) {
  if (venues.length === 0)
    return html`<${Empty} title="No venue account yet.">What policies send to venues is counted from the first one on.<//>`;
  return html`<ul class="venues">
    ${venues.map(
      (venue) => html`<li key=${venue.venue} class="venue">
      <div class="venue-head"><h3><${Text} text=${venue.venue} /></h3><small>${venue.accountCount === null ? 'accounts, not all of them known' : html`<${Fig} figure=${bare(venue.accountCount, 'chain:VenueAccount accounts, counted')} reading=${{ kind: 'count' }} name="Venue accounts" /> ${venue.accountCount === 1 ? 'account' : 'accounts'}`}</small></div>
      ${
        // Bars on one scale would compare them too.
        venue.gap.absent
          ? html`<p class="note">Not compared: <${Text} text=${readable(whyNotCompared(venue))} />.</p>`
          : html`<${Against} bridgedOut=${venue.bridgedOut} attested=${venue.attestedEquity} />`
      }
      <dl class=${venue.gap.absent ? 'pairs uncompared' : 'pairs'}>
        <div><dt><i class="purse bridged" aria-hidden="true"></i>Sent there</dt><dd><${Fig} figure=${venue.bridgedOut} reading=${BASE} name="Sent out" /></dd></div>
        <div><dt><i class="purse remote" aria-hidden="true"></i>Reported there</dt><dd><${Fig} figure=${venue.attestedEquity} reading=${BASE} name="Attested equity" /></dd></div>
        <div><dt>The difference</dt><dd><${Fig} figure=${venue.gap} reading=${BASE} name="Sent out and not attested" /></dd></div>
      </dl>
    </li>`,
    )}
  </ul>`;
}

/** The attested figure's own reason where it is absent: the difference's would name it by its field in the API. */
const whyNotCompared = ({ attestedEquity, gap }: Venue): string =>
  (attestedEquity.absent ? attestedEquity : gap).reason ?? '';
