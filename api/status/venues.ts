import type { ProtocolConfigRow } from '../../clickhouse/queries/status/protocol-config.ts';
import type { ProgramStatusRow, VenueStatusRow } from '../../clickhouse/queries/status/venue-state.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { isoMillis } from '../../schemas/units.ts';
import type { RemoteVenue } from '../../schemas/venues/remote.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { remoteVenues } from '../figures/asset-venues.ts';
import { POLLER_SOURCE } from '../figures/sources.ts';
import { agedReason, agesAt, neverReadReason } from '../figures/venue-readings.ts';
import type { View } from '../latest/view.ts';

type Venues = StatusResponse['venues'];

/** Whether the programs exist and how long ago each venue last answered. */
export function venues(view: View, settings: ReadSettings, config: ProtocolConfigRow | null): Venues {
  const programs = view.single('programStatuses');
  const statuses = view.single('venueStatuses');
  const launchpad = config?.launchpad_program ?? settings.launchpadProgramId;
  const amm = config?.amm_program ?? settings.ammProgramId;
  return {
    [settings.launchpadVenueId]: programReach('launchpad', launchpad, programs, settings, view),
    [settings.ammVenueId]: programReach('amm', amm, programs, settings, view),
    ...Object.fromEntries(
      remoteVenues(settings).map(({ venue, id }) => [id, readingAge(venue, statuses, settings, view)]),
    ),
  };
}

function programReach(
  program: ProgramStatusRow['program'],
  programId: string,
  rows: readonly ProgramStatusRow[],
  { readingMaxAgeMs }: ReadSettings,
  view: View,
): Venues[string] {
  const row = rows.find((candidate) => candidate.program === program && candidate.address === programId);
  const source = 'chain:getAccountInfo' as const;
  if (row === undefined) return { reachable: null, programId, source, reason: 'not polled yet' };
  const readAt = Number(row.read_at);
  view.expireAt(agesAt(readAt, readingMaxAgeMs, view.now));
  const reason = agedReason(readAt, readingMaxAgeMs, view.now) ?? row.error;
  if (reason !== null) return { reachable: null, programId, source, reason };
  return { reachable: row.exists === 1, programId, source };
}

function readingAge(
  venue: RemoteVenue,
  rows: readonly VenueStatusRow[],
  settings: ReadSettings,
  view: View,
): Figure {
  const good = rows.find((row) => row.venue === venue && row.ok === 1);
  if (good !== undefined && settings.polledVenues.includes(venue)) {
    const readAt = Number(good.read_at);
    const reason = agedReason(readAt, Number.POSITIVE_INFINITY, view.now);
    if (reason !== null) {
      view.expireAt(agesAt(readAt, Number.POSITIVE_INFINITY, view.now));
      return absent(POLLER_SOURCE, reason);
    }
    const age = Math.floor((view.now - readAt) / 1000);
    view.expireAt(readAt + (age + 1) * 1000);
    return figure(age, POLLER_SOURCE, isoMillis(readAt));
  }
  return absent(POLLER_SOURCE, neverReadReason(venue, rows, settings));
}
