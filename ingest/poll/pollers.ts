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

/** Polls everything that is configured until the signal is given; what fails is a reading or a line of the log. */
export async function runPollers(given: PollOptions): Promise<void> {
  const options = { ...given, log: withBoundedLetters(given.log) };
  const fast = options.config.pollIntervalMs;
  const slow = fast * SLOW_FACTOR;
  await Promise.all([
    ...namesOf(ACCOUNT_READERS).map((venue) =>
      repeatRounds(`accounts at ${venue}`, fast, options, remoteAccountsRound(venue, options)),
    ),
    ...namesOf(VENUE_READERS).map((venue) => repeatRounds(venue, fast, options, venueRound(venue, options))),
    repeatRounds('prices in use', fast, options, usedPricesRound(options)),
    repeatRounds('prices of the second source', fast, options, secondPricesRound(options)),
    repeatRounds('launchpad and amm', fast, options, programsRound(options)),
    repeatRounds('catalogue', slow, options, catalogueRound(options)),
    repeatRounds('prices that are listed', slow, options, listedPricesRound(options)),
    // New mints are looked for often; a document is read again slowly.
    repeatRounds('documents', fast, options, documentsRound(options, slow)),
  ]);
}

const namesOf = <Name extends string>(adapters: Record<Name, unknown>) => Object.keys(adapters) as Name[];

function venueRound(venue: Exclude<RemoteVenue, EquityVenue>, { config, signal }: PollOptions): Round {
  const url = config[urlSetting(venue)];
  if (url === null) return async () => {};
  return async (emit) => emit(await VENUE_READERS[venue](url, signal));
}
