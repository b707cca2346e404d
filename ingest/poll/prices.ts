import { quoteMints } from '../../clickhouse/queries/states/poll-targets.ts';
import { chunks } from '../../runtime/chunks.ts';
import { type Bucket, createBucket } from '../../runtime/outside/bucket.ts';
import { countFailures, type Emit, type PollOptions, type Round } from './round.ts';
import { MINTS_PER_CALL, readCatalogue, readCataloguePrice, readSecondPrices } from './venues/catalogue.ts';

/** The catalogue allows 300 requests a minute: half of 240 and a burst for the quotes in use, half for the rest. */
const PRICES_PER_SECOND = 2;
const PRICES_BURST = 20;

/** Of the quotes that the catalogue does not list so many a round: as many as there are must not hold up the others. */
const UNLISTED_OF_ROUND = 30;

/** The catalogue's prices of the quotes that policies have: those that it lists, and some of the others in turns. */
export function usedPricesRound({ config, store, signal }: PollOptions): Round {
  const { launchpadCatalogueUrl: base } = config;
  if (base === null) return async () => {};
  const bucket = createBucket(PRICES_PER_SECOND, PRICES_BURST);
  let last = '';
  return async (emit) => {
    const { used, unlisted } = await quoteMints(store);
    const turn = behind(last, unlisted).slice(0, UNLISTED_OF_ROUND);
    last = turn.at(-1) ?? '';
    await cataloguePrices(base, [...used, ...turn], bucket, emit, signal);
  };
}

/** All of an ordered list, beginning behind one. */
const behind = (one: string, list: readonly string[]): string[] => [
  ...list.filter((other) => other > one),
  ...list.filter((other) => other <= one),
];

/** The second source's prices of them: at its own pace, since the one that hangs or asks for rest may be the other. */
export function secondPricesRound({ config, store, signal }: PollOptions): Round {
  const { priceUrl } = config;
  if (priceUrl === null) return async () => {};
  return async (emit) => {
    const { used, unlisted } = await quoteMints(store);
    await secondPrices(priceUrl, [...used, ...unlisted], emit, signal);
  };
}

/** The catalogue, whole: however many pairs it lists, it is one question. */
export function catalogueRound({ config, signal }: PollOptions): Round {
  const { launchpadCatalogueUrl: base } = config;
  if (base === null) return async () => {};
  return async (emit) => {
    const failures = countFailures('reads of the catalogue');
    const { records, failure } = await readCatalogue(base, signal);
    await emit(records);
    await failures.note(failure, signal);
    failures.report();
  };
}

/** Prices of the catalogue's quotes that no policy has: at their own pace, which holds the catalogue up for nobody. */
export function listedPricesRound({ config, store, signal }: PollOptions): Round {
  const { launchpadCatalogueUrl: base } = config;
  if (base === null) return async () => {};
  const bucket = createBucket(PRICES_PER_SECOND, PRICES_BURST);
  return async (emit) => {
    const { listed } = await quoteMints(store);
    await cataloguePrices(base, listed, bucket, emit, signal);
  };
}

async function cataloguePrices(
  base: string,
  mints: readonly string[],
  bucket: Bucket,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const failures = countFailures('catalogue prices');
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
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const failures = countFailures('questions to PRICE_URL');
  for (const some of chunks(mints, MINTS_PER_CALL)) {
    if (signal.aborted) break;
    const { records, failure } = await readSecondPrices(base, some, signal);
    await emit(records);
    await failures.note(failure, signal);
  }
  failures.report();
}
