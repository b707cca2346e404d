import { quoteMints } from '../../clickhouse/queries/states/poll-targets.ts';
import { chunks } from '../../runtime/chunks.ts';
import { type Bucket, createBucket } from '../../runtime/outside/bucket.ts';
import type { LogRecord } from '../../schemas/records.ts';
import { countFailures, type Emit, type PollOptions, type Round } from './round.ts';
import { MINTS_PER_CALL, readCatalogue, readCataloguePrice, readSecondPrices } from './venues/catalogue.ts';

/** The catalogue allows 300 requests a minute: half of 240 and a burst for the quotes in use, half for the rest. */
const PRICES_PER_SECOND = 2;
const PRICES_BURST = 20;

/** Quotes per round that the catalogue does not list: however many there are, they must not hold up the others. */
const UNLISTED_OF_ROUND = 30;
/** Likewise for the second source: as many as one request names, and as many again of those that it had no price of. */
const UNLISTED_OF_SECOND_ROUND = MINTS_PER_CALL;

/** The catalogue's prices of the quotes that policies have: those that it lists, and some of the others in turns. */
export function usedPricesRound({ config, store, signal, onAnswer }: PollOptions): Round {
  const { launchpadCatalogueUrl: base } = config;
  if (base === null) return async () => {};
  const bucket = createBucket(PRICES_PER_SECOND, PRICES_BURST);
  const takeTurn = turnsOf(UNLISTED_OF_ROUND);
  return async (emit) => {
    const { used, unlisted } = await quoteMints(store);
    await cataloguePrices(base, [...used, ...takeTurn(unlisted)], bucket, emit, { signal, onAnswer });
  };
}

/** Takes so many of an ordered list, each time those behind the last ones, and from the front again at its end. */
function turnsOf(many: number): (list: readonly string[]) => string[] {
  let last = '';
  return (list) => {
    const behind = list.filter((one) => one > last);
    const turn = [...behind, ...list.filter((one) => one <= last)].slice(0, many);
    last = turn.at(-1) ?? '';
    return turn;
  };
}

/**
 * The second source's prices of the same quotes, in a round of its own: the source that hangs or asks for rest may be
 * the other one. That it has no price of a mint does not grow old: it is told once, until it has one again.
 */
export function secondPricesRound({ config, store, signal, onAnswer }: PollOptions): Round {
  const { priceUrl } = config;
  if (priceUrl === null) return async () => {};
  const takeTurn = turnsOf(UNLISTED_OF_SECOND_ROUND);
  const takePriceless = turnsOf(UNLISTED_OF_SECOND_ROUND);
  const priceless = new Set<string>();
  return async (emit) => {
    const { used, unlisted } = await quoteMints(store);
    const turn = takeTurn(unlisted.filter((mint) => !priceless.has(mint)));
    const turnOfPriceless = takePriceless(unlisted.filter((mint) => priceless.has(mint)));
    await secondPrices(priceUrl, [...used, ...turn, ...turnOfPriceless], priceless, emit, {
      signal,
      onAnswer,
    });
  };
}

/** The catalogue, whole: however many pairs it lists, it is one question. */
export function catalogueRound({ config, signal, onAnswer }: PollOptions): Round {
  const { launchpadCatalogueUrl: base } = config;
  if (base === null) return async () => {};
  return async (emit) => {
    const failures = countFailures('reads of the catalogue', onAnswer);
    const { records, failure } = await readCatalogue(base, signal);
    await emit(records);
    await failures.note(failure, signal);
    failures.report();
  };
}

/**
 * Prices of the catalogue's quotes that no policy has: in a round of their own, so that the catalogue waits for none of
 * them.
 */
export function listedPricesRound({ config, store, signal, onAnswer }: PollOptions): Round {
  const { launchpadCatalogueUrl: base } = config;
  if (base === null) return async () => {};
  const bucket = createBucket(PRICES_PER_SECOND, PRICES_BURST);
  return async (emit) => {
    const { listed } = await quoteMints(store);
    await cataloguePrices(base, listed, bucket, emit, { signal, onAnswer });
  };
}

async function cataloguePrices(
  base: string,
  mints: readonly string[],
  bucket: Bucket,
  emit: Emit,
  { signal, onAnswer }: Pick<PollOptions, 'signal' | 'onAnswer'>,
): Promise<void> {
  const failures = countFailures('catalogue prices', onAnswer);
  for (const mint of mints) {
    if (!(await bucket.take(signal))) return;
    const { records, failure } = await readCataloguePrice(base, mint, signal);
    await emit(records);
    await failures.note(failure, signal);
  }
  failures.report();
}

async function secondPrices(
  base: string,
  mints: readonly string[],
  priceless: Set<string>,
  emit: Emit,
  { signal, onAnswer }: Pick<PollOptions, 'signal' | 'onAnswer'>,
): Promise<void> {
  const failures = countFailures('questions to PRICE_URL', onAnswer);
  for (const some of chunks(mints, MINTS_PER_CALL)) {
    if (signal.aborted) break;
    const { records, failure } = await readSecondPrices(base, some, signal);
    const news = records.filter((record) => {
      const price = priceIn(record);
      return price === null || price.usd !== null || !priceless.has(price.mint);
    });
    await emit(news);
    for (const price of news.map(priceIn)) {
      if (price?.usd === null) priceless.add(price.mint);
      else if (price !== null) priceless.delete(price.mint);
    }
    // The next reading of these mints is told in any case, for it outdates the dead letter of this failure.
    if (failure !== null) for (const mint of some) priceless.delete(mint);
    await failures.note(failure, signal);
  }
  failures.report();
}

const priceIn = (record: LogRecord) =>
  record.kind === 'reading' && record.reading.type === 'price' ? record.reading : null;
