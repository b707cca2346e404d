import { pause } from '../../runtime/process/lifecycle.ts';
import { type EquityVenue, type RemoteVenue, urlSetting } from '../../schemas/venues/remote.ts';
import { withBoundedLetters } from './bounded-letters.ts';
import { documentsRound } from './documents.ts';
import { programsRound } from './launch-programs.ts';
import { catalogueRound, listedPricesRound, secondPricesRound, usedPricesRound } from './prices.ts';
import { remoteAccountsRound } from './remote-accounts.ts';
import { type PollOptions, type Round, repeatRounds } from './round.ts';
import { ACCOUNT_READERS, VENUE_READERS } from './venues/adapters.ts';

/** The catalogue and documents change slowly. */
const SLOW_FACTOR = 20;

/**
 * With less rest between rounds the pollers would keep the stores and other people's servers busy by themselves, and
 * fill the log, which is kept for ever.
 */
const LEAST_INTERVAL_MS = 100;
/** A longer timer ends at once. */
const LONGEST_INTERVAL_MS = 2 ** 31 - 1;

const paced = (millis: number) => Math.min(Math.max(millis, LEAST_INTERVAL_MS), LONGEST_INTERVAL_MS);

/** One kind of reading and how often it is begun anew. */
export interface Poller {
  name: string;
  intervalMs: number;
  round: Round;
}

/** All of them, each at its own pace: none waits for another. */
export function pollersOf(options: PollOptions): Poller[] {
  const fast = paced(options.config.pollIntervalMs);
  const slow = paced(fast * SLOW_FACTOR);
  const poller = (name: string, intervalMs: number, round: Round): Poller => ({ name, intervalMs, round });
  return [
    ...namesOf(ACCOUNT_READERS).map((venue) =>
      poller(`accounts at ${venue}`, fast, remoteAccountsRound(venue, options)),
    ),
    ...namesOf(VENUE_READERS).map((venue) => poller(venue, fast, venueRound(venue, options))),
    poller('prices in use', fast, usedPricesRound(options)),
    poller('prices of the second source', fast, secondPricesRound(options)),
    poller('launchpad and amm', fast, programsRound(options)),
    poller('catalogue', slow, catalogueRound(options)),
    poller('prices that are listed', slow, listedPricesRound(options)),
    // New mints are looked for often; a document is read again slowly.
    poller('documents', fast, documentsRound(options, slow)),
  ];
}

/** Polls everything that is configured until the signal aborts; a failure is a reading or a line of the process log. */
export async function runPollers(given: PollOptions): Promise<void> {
  const options = { ...given, log: withBoundedLetters(given.log) };
  await Promise.all(
    pollersOf(options).map(({ name, intervalMs, round }) => repeatRounds(name, intervalMs, options, round)),
  );
}

const namesOf = <Name extends string>(adapters: Record<Name, unknown>) => Object.keys(adapters) as Name[];

function venueRound(venue: Exclude<RemoteVenue, EquityVenue>, { config, signal }: PollOptions): Round {
  const url = config[urlSetting(venue)];
  if (url === null) return async () => {};
  return async (emit) => {
    const { records, retryAfterMs } = await VENUE_READERS[venue](url, signal);
    await emit(records);
    if (retryAfterMs !== null) await pause(retryAfterMs, signal);
  };
}
