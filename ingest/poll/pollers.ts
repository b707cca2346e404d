import { documentsRound } from './documents.ts';
import { programsRound } from './launch-programs.ts';
import { perpAccountsRound } from './perp-accounts.ts';
import { catalogueRound, usedPricesRound } from './prices.ts';
import { type PollOptions, type Round, repeatRounds } from './round.ts';
import { readOptionsVenue } from './venues/options.ts';

/** The catalogue and documents change slowly. */
const SLOW_FACTOR = 20;

/** Polls everything that is configured until the signal is given; what fails is a reading or a line of the log. */
export async function runPollers(options: PollOptions): Promise<void> {
  const fast = options.config.pollIntervalMs;
  const slow = fast * SLOW_FACTOR;
  await Promise.all([
    repeatRounds('venue accounts', fast, options, perpAccountsRound(options)),
    repeatRounds('options venue', fast, options, optionsVenueRound(options)),
    repeatRounds('prices in use', fast, options, usedPricesRound(options)),
    repeatRounds('launchpad and amm', fast, options, programsRound(options)),
    repeatRounds('catalogue', slow, options, catalogueRound(options)),
    // New mints are looked for often; a document is read again slowly.
    repeatRounds('documents', fast, options, documentsRound(options, slow)),
  ]);
}

function optionsVenueRound({ config, signal }: PollOptions): Round {
  const { optionsVenueUrl } = config;
  if (optionsVenueUrl === null) return async () => {};
  return async (emit) => emit(await readOptionsVenue(optionsVenueUrl, signal));
}
