import type { Store } from '../clickhouse/client.ts';
import { metadataUris, quoteMints, remoteAccounts } from '../clickhouse/queries/poll-targets.ts';
import { createBucket } from '../runtime/bucket.ts';
import type { Config } from '../runtime/config.ts';
import { messageOf } from '../runtime/errors.ts';
import { pause } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/log.ts';
import type { Rpc } from '../runtime/rpc.ts';
import type { LogRecord } from '../schemas/records.ts';
import type { LogWriter } from './log/port.ts';
import { readCatalogue, readCataloguePrice, readSecondPrices } from './venues/catalogue.ts';
import { readDocument } from './venues/document.ts';
import { readOptionsVenue } from './venues/options.ts';
import { createPerpPoller } from './venues/perp.ts';

export interface PollOptions {
  config: Config;
  programId: string;
  store: Store;
  log: LogWriter;
  rpc: Rpc;
  logger: Logger;
  signal: AbortSignal;
}

/** A venue account of class PERP is at the perpetuals venue. */
const PERP = 16;
/** The catalogue and documents change slowly. */
const SLOW_FACTOR = 20;
/** The first rounds come sooner, while policies are still being found. */
const WARM_UP_MS = 2_000;
const WARM_UP_ROUNDS = 5;
const PRICES_PER_SECOND = 4;
const PRICES_BURST = 20;
/** A document that failed is read again after this. */
const RETRY_DOCUMENT_MS = 600_000;

/** Polls everything that is configured until the signal is given; what fails is a reading or a line of the log. */
export async function runPollers(options: PollOptions): Promise<void> {
  const fast = options.config.pollIntervalMs;
  await Promise.all([
    every('venue accounts', fast, options, perpRound(options)),
    every('options venue', fast, options, optionsRound(options)),
    every('prices in use', fast, options, usedPrices(options)),
    every('launchpad and amm', fast, options, programsRound(options)),
    every('catalogue', fast * SLOW_FACTOR, options, catalogueRound(options)),
    every('documents', fast, options, documentsRound(options)),
  ]);
}

type Round = () => Promise<LogRecord[]>;

async function every(
  name: string,
  intervalMs: number,
  { log, logger, signal }: PollOptions,
  round: Round,
): Promise<void> {
  for (let count = 0; !signal.aborted; count += 1) {
    try {
      const records = await round();
      if (records.length > 0 && !signal.aborted) await log.append(records);
    } catch (error) {
      logger.warn({ poll: name, error: messageOf(error) }, 'a round of polling failed');
    }
    await pause(count < WARM_UP_ROUNDS ? Math.min(intervalMs, WARM_UP_MS) : intervalMs, signal);
  }
}

function perpRound({ config, store, signal }: PollOptions): Round {
  if (config.perpVenueUrl === null) return async () => [];
  const poller = createPerpPoller(config.perpVenueUrl);
  return async () => {
    const accounts = await remoteAccounts(store);
    return poller.read(
      accounts.filter(({ assetClass }) => assetClass === PERP),
      signal,
    );
  };
}

function optionsRound({ config, signal }: PollOptions): Round {
  const { optionsVenueUrl } = config;
  return optionsVenueUrl === null ? async () => [] : () => readOptionsVenue(optionsVenueUrl, signal);
}

function catalogueRound(options: PollOptions): Round {
  const { config, store, signal } = options;
  const { launchpadCatalogueUrl: base } = config;
  if (base === null) return async () => [];
  const bucket = createBucket(PRICES_PER_SECOND / 2, PRICES_BURST);
  return async () => {
    const records = await readCatalogue(base, signal);
    await options.log.append(records);
    const { listed } = await quoteMints(store);
    return readEach(base, listed, bucket, signal);
  };
}

function usedPrices({ config, store, signal }: PollOptions): Round {
  const bucket = createBucket(PRICES_PER_SECOND / 2, PRICES_BURST);
  return async () => {
    const { used } = await quoteMints(store);
    const { launchpadCatalogueUrl, priceUrl } = config;
    return [
      ...(launchpadCatalogueUrl === null ? [] : await readEach(launchpadCatalogueUrl, used, bucket, signal)),
      ...(priceUrl === null ? [] : await readSecondPrices(priceUrl, used, signal)),
    ];
  };
}

async function readEach(
  base: string,
  mints: readonly string[],
  bucket: ReturnType<typeof createBucket>,
  signal: AbortSignal,
): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  for (const mint of mints) {
    if (!(await bucket.take(signal))) break;
    const { records, retryAfterMs } = await readCataloguePrice(base, mint, signal);
    all.push(...records);
    if (retryAfterMs !== null) await pause(retryAfterMs, signal);
  }
  return all;
}

function programsRound({ config, rpc }: PollOptions): Round {
  return async () => {
    const programs = [
      { program: 'launchpad', address: config.launchpadProgramId },
      { program: 'amm', address: config.ammProgramId },
    ] as const;
    return Promise.all(
      programs.map(async ({ program, address }): Promise<LogRecord> => {
        const answer = await rpc.getAccountInfo(address).then(
          ({ account }) => ({ exists: account !== null, error: null }),
          (error: unknown) => ({ exists: false, error: messageOf(error) }),
        );
        return {
          kind: 'reading',
          readAt: Date.now(),
          reading: { type: 'program_status', program, address, ...answer },
        };
      }),
    );
  };
}

function documentsRound({ config, store, signal }: PollOptions): Round {
  const failedAt = new Map<string, number>();
  return async () => {
    const records: LogRecord[] = [];
    const slow = config.pollIntervalMs * SLOW_FACTOR;
    for (const { mint, uri, readUri, readAt } of await metadataUris(store)) {
      if (signal.aborted) break;
      const fresh = readUri === uri && Date.now() - Number(readAt) < Math.max(slow, RETRY_DOCUMENT_MS);
      if (fresh || Date.now() - (failedAt.get(mint) ?? 0) < RETRY_DOCUMENT_MS) continue;
      const { ipfsGateway, metadataAllowPrivate: allowPrivate } = config;
      const record = await readDocument(mint, uri, { ipfsGateway, allowPrivate, signal });
      if (record.reading.type === 'metadata' && record.reading.error !== null) failedAt.set(mint, Date.now());
      records.push(record);
    }
    return records;
  };
}
