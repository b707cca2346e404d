import { absent, figure } from '../../schemas/figure.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { timeOf } from '../../schemas/units.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { remoteVenues } from '../figures/asset-venues.ts';
import { nextSecond, secondsSince } from '../figures/times.ts';
import { unknownPoliciesReason } from '../figures/unknown-policies.ts';
import { attestationsIn } from '../latest/kinds/tallies/sums.ts';
import type { View } from '../latest/view.ts';

const SOURCE = 'chain:VenueAccount.remote_asof';

/** How fresh the newest attestation of each venue is. */
export function attestor(view: View, settings: ReadSettings): StatusResponse['attestor'] {
  const last = view.single('lastActions');
  const newest = attestationsIn(view);
  const unlisted = unknownPoliciesReason(view);
  view.expireAt(nextSecond(view.now));
  return {
    lastActionAt: timeOf(last.attestor),
    perVenue: remoteVenues(settings).map(({ id, assetClass }) => {
      const found = newest.find((row) => row.asset_class === assetClass);
      const none = unlisted ?? `no account at ${id} that is not revoked was ever attested`;
      const age =
        unlisted !== null || found === undefined
          ? absent(SOURCE, none)
          : figure(secondsSince(found.remote_asof, view.now), SOURCE, timeOf(found.remote_asof));
      return { venue: id, ...age };
    }),
    moneyPathsFrozenNote:
      'Freshness per venue only. Whether the money paths of a policy are frozen is in /coins/:mint, staleness of its accounts in /coins/:mint/positions.',
  };
}
