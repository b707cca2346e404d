import path from 'node:path';
import { createApp } from '../../api/app.ts';
import { listen } from '../../api/http/listen.ts';
import { createHandOver } from '../../api/latest/feed.ts';
import { createLatest } from '../../api/latest/latest.ts';
import { readSettings } from '../../api/settings.ts';
import { openEmbedded, type Store } from '../../clickhouse/client.ts';
import { uncarriedNow } from '../../clickhouse/queries/history/carried.ts';
import { migrate } from '../../clickhouse/schema/migrate.ts';
import { HISTORY_TOPICS, type Topic } from '../../ingest/log/port.ts';
import { createMaterialiser } from '../../ingest/materialise/materialiser.ts';
import { keepPassed } from '../../ingest/materialise/quote-hours.ts';
import { storedState } from '../../ingest/stream/stored-state.ts';
import { runStream } from '../../ingest/stream/stream.ts';
import { readConfig } from '../../runtime/config/config.ts';
import { createLogger } from '../../runtime/process/log.ts';
import { createRpc } from '../../runtime/rpc/rpc.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import { openLog } from '../../start/log.ts';

export interface Product {
  port: number;
  /** Ends in order, as on a signal. */
  stop(): Promise<void>;
  /** After so many more writes none reaches the database, as if the process were killed between two writes. */
  crashAfter(writes: number): void;
  /** Whether the crash has come. */
  crashed(): boolean;
  /** The lowest of the topics' last markers applied since the start; null before there is one. Makes no request. */
  applied(): bigint | null;
  /** Whether a gap that was recorded since the start is open. */
  knowsOfGap(): boolean;
  /** The addresses that no stream carries, as stored. */
  uncarried(): Promise<string[]>;
  /** Stores the sums of the hours that have passed. */
  keepHours(): Promise<void>;
}

export interface ProductOptions {
  directory: string;
  geyserPort: number;
  rpcUrl: string;
  programId: string;
  /** Unix milliseconds. */
  clock(): number;
  /** Called with the first slot of each gap that the product records. */
  onGap(fromSlot: bigint): void;
  /** Called where only followed addresses were missed after a slot: their stream was cut and no replay reached back. */
  onUnfollowed(afterSlot: bigint): void;
  /** A stream that shows no new slot for this long is started again. */
  silenceMs: number;
  awayAfterMs?: number;
  rotaMs?: number;
}

/** How often to verify: each time costs five queries, even where there is nothing to compare. */
const VERIFY_EVERY_MS = 2_000;

/** The stages of start/system.ts without its pollers, under a given clock and with writes that can be cut off. */
export async function startProduct(options: ProductOptions): Promise<Product> {
  const { programId } = options;
  const config = readConfig({ DATA_DIR: options.directory, PROGRAM_ID: programId });
  const logger = createLogger('silent', 'scenario');
  const database = await openEmbedded(path.join(options.directory, 'clickhouse'));
  await migrate(database, null);

  let writesLeft = Number.POSITIVE_INFINITY;
  const write = async (run: () => Promise<void>) => {
    writesLeft -= 1;
    if (writesLeft < 0) throw new Error('the process is dead');
    await run();
  };
  const store: Store = {
    ...database,
    insert: (table, rows) => write(() => database.insert(table, rows)),
    command: (sql, params) => write(() => database.command(sql, params)),
  };

  const handOver = createHandOver();
  const rpc = createRpc(options.rpcUrl, { commitment: config.commitment });
  const opened = await openLog(config, store, logger);
  const gaps = new Set<bigint>();
  const log: typeof opened = {
    ...opened,
    append: (records) => {
      for (const record of records) {
        if (record.kind === 'marker' && record.missed !== undefined)
          options.onUnfollowed(record.missed.after);
        if (record.kind !== 'gap') continue;
        if (!record.closed && !gaps.has(record.fromSlot)) options.onGap(record.fromSlot);
        if (record.closed) gaps.delete(record.fromSlot);
        else gaps.add(record.fromSlot);
      }
      return opened.append(records);
    },
  };
  const markers = new Map<Topic, bigint>();
  const materialise = createMaterialiser({
    store,
    programId: decodeKey(programId) as Uint8Array,
    onApplied: ({ topic, entries }) => {
      const marker = entries.findLast(({ record }) => record.kind === 'marker')?.record;
      if (marker?.kind === 'marker') markers.set(topic, marker.slot);
      handOver.applied();
    },
    onChanged: handOver.note,
  });
  const stopStream = new AbortController();
  const stopLog = new AbortController();
  const logStage = log.run(materialise, stopLog.signal);
  const streamStage = runStream({
    endpoint: `127.0.0.1:${options.geyserPort}`,
    xToken: null,
    programId,
    launchpadProgramId: config.launchpadProgramId,
    commitment: config.commitment,
    rpc,
    log,
    store: { ...storedState(store), position: log.position },
    logger,
    signal: stopStream.signal,
    silenceMs: options.silenceMs,
    ...(options.awayAfterMs === undefined ? {} : { awayAfterMs: options.awayAfterMs }),
    ...(options.rotaMs === undefined ? {} : { rotaMs: options.rotaMs }),
    verifyEveryMs: VERIFY_EVERY_MS,
  });
  const api = await listen(
    createApp({
      latest: createLatest({ currentStore: () => store, clock: options.clock, handOver }),
      settings: readSettings(config),
      clock: options.clock,
    }),
    '127.0.0.1',
    0,
  );
  return {
    port: api.port,
    stop: async () => {
      stopStream.abort();
      await api.close();
      await streamStage;
      stopLog.abort();
      await logStage;
      await database.close();
    },
    crashAfter: (writes) => {
      writesLeft = writes;
    },
    crashed: () => writesLeft < 0,
    applied: () => {
      const [one, other] = HISTORY_TOPICS.map((topic) => markers.get(topic));
      if (one === undefined || other === undefined) return null;
      // biome-ignore lint/complexity/useMathMinMax: they are bigints
      return one < other ? one : other;
    },
    knowsOfGap: () => gaps.size > 0,
    uncarried: async () => (await uncarriedNow(database)).map(({ address }) => address),
    keepHours: async () => void (await keepPassed(database, stopStream.signal, async () => {})),
  };
}
