import type { Store } from '../../clickhouse/client.ts';
import type { ProtocolConfigRow } from '../../clickhouse/queries/protocol-config.ts';
import {
  type ProgramStatusRow,
  programStatuses,
  type VenueStatusRow,
  venueStatuses,
} from '../../clickhouse/queries/venue-state.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { isoMillis } from '../../schemas/units.ts';
import type { RemoteVenue } from '../../schemas/venues/remote.ts';
import { remoteVenues } from '../figures/asset-venues.ts';
import { POLLER_SOURCE } from '../figures/sources.ts';
import { unreadReason } from '../figures/venue-readings.ts';
import type { ReadSettings } from '../latest/read-deps.ts';

type Venues = StatusResponse['venues'];

/** Whether the programs exist and how long ago each venue last answered. */
export async function venues(
  store: Store,
  settings: ReadSettings,
  config: ProtocolConfigRow | null,
  now: number,
): Promise<Venues> {
  const [programs, statuses] = await Promise.all([programStatuses(store), venueStatuses(store)]);
  const launchpad = config?.launchpad_program ?? settings.launchpadProgramId;
  const amm = config?.amm_program ?? settings.ammProgramId;
  return {
    [settings.launchpadVenueId]: programReach('launchpad', launchpad, programs),
    [settings.ammVenueId]: programReach('amm', amm, programs),
    ...Object.fromEntries(
      remoteVenues(settings).map(({ venue, id }) => [id, readingAge(venue, statuses, settings, now)]),
    ),
  };
}

function programReach(
  program: ProgramStatusRow['program'],
  programId: string,
  rows: readonly ProgramStatusRow[],
): Venues[string] {
  const row = rows.find((candidate) => candidate.program === program && candidate.address === programId);
  const source = 'chain:getAccountInfo' as const;
  if (row === undefined) return { reachable: null, programId, source, reason: 'not polled yet' };
  if (row.error !== null) return { reachable: null, programId, source, reason: row.error };
  return { reachable: row.exists === 1, programId, source };
}

function readingAge(
  venue: RemoteVenue,
  rows: readonly VenueStatusRow[],
  settings: ReadSettings,
  now: number,
): Figure {
  const good = rows.find((row) => row.venue === venue && row.ok === 1);
  if (good !== undefined && settings.polledVenues.includes(venue)) {
    const readAt = Number(good.read_at);
    return figure(Math.floor((now - readAt) / 1000), POLLER_SOURCE, isoMillis(readAt));
  }
  const bad = rows.find((row) => row.venue === venue && row.ok === 0);
  const unread = unreadReason(venue, undefined, settings, now) ?? 'not polled yet';
  const isPolled = settings.polledVenues.includes(venue);
  return absent(
    POLLER_SOURCE,
    isPolled && bad !== undefined ? `never answered: ${bad.error ?? 'no reply'}` : unread,
  );
}
