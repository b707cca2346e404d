import type { Store } from '../../../clickhouse/client.ts';
import { appliedOffsets } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { readServing } from '../../../clickhouse/serving/serving.ts';
import { ConfigError } from '../../../runtime/errors.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import type { RecomputeRecord } from '../../../schemas/records.ts';
import { type Range, readRanges, recordsIn } from '../../log/kafka/offset-ranges.ts';
import { topicName } from '../../log/kafka/topics.ts';
import { createKafkaWriter } from '../../log/kafka/writer.ts';
import type { LogBatch, LogWriter } from '../../log/port.ts';
import { createMaterialiser } from '../../materialise/materialiser.ts';
import { firstSlotOfInterval, type Touched } from '../../materialise/rollups/slot-intervals.ts';
import type { ReplayContext } from './context.ts';

const LOOK_EVERY_MS = 50;
/** After this long the operator is told what is waited for. */
const PATIENCE_MS = 10_000;
/** These keep a record well under the size that the log takes. */
const MINTS_PER_RECORD = 5_000;
const SLOTS_PER_RECORD = 10_000;

export type Write = (batch: LogBatch) => Promise<void>;

/**
 * Hands out ranges of the log to `apply`, which writes what it wants of each batch.
 * @throws ConfigError where another database becomes the serving one meanwhile, or it is stopped before the end.
 */
export async function rereadRanges(
  context: ReplayContext,
  store: Store,
  ranges: readonly Range[],
  apply: (batch: LogBatch, write: Write) => Promise<void>,
): Promise<void> {
  const { kafka, prefix, logger, progress } = context;
  const failed = new AbortController();
  const signal = AbortSignal.any([context.signal, failed.signal]);
  const log = createKafkaWriter(kafka, prefix);
  const write = createRereader({ ...context, signal }, store, log);
  progress.update(0, recordsIn(ranges));
  try {
    const options = { prefix, ranges, logger, signal, onProgress: (done: number) => progress.update(done) };
    await readRanges(kafka, options, async (batch) => {
      try {
        await apply(batch, write);
      } catch (error) {
        // A ConfigError is for the operator to act on: it is not tried again.
        if (error instanceof ConfigError) failed.abort(error);
        throw error;
      }
    });
  } finally {
    progress.end();
    await log.close();
  }
  failed.signal.throwIfAborted();
  if (context.signal.aborted)
    throw new ConfigError('stopped before the end: what was re-read holds, run it again for the rest');
}

/**
 * Writes batches of the log once more into the serving database, beside the live materialisers. Facts and states are
 * keyed and versioned by what they say, so a second writer does no harm. Sums are not: of two recomputes the one of the
 * higher offset wins, and a live one that read before a fact was written here may carry any offset of the log. So sums
 * are left to the partition's owner, who is asked through the log: what it recomputes then has an offset behind all
 * that could have read too early. The place in the log is the owner's alone.
 */
function createRereader(context: ReplayContext, store: Store, log: LogWriter): Write {
  return createMaterialiser({
    store,
    programId: context.programId,
    recomputeByOwner: async (partition, touched) => {
      await log.append(recomputesOf(partition, touched));
      const topic = topicName(context.prefix, 'transactions');
      const end = (await context.kafka.offsets(topic)).find((place) => place.partition === partition)?.high;
      await untilApplied(context, store, `transactions/${partition}`, (end ?? 0n) - 1n);
    },
  });
}

function recomputesOf(partition: number, touched: Touched): RecomputeRecord[] {
  const records: RecomputeRecord[] = [];
  for (const slots of parts([...touched.intervals].map(firstSlotOfInterval), SLOTS_PER_RECORD))
    for (const mints of parts([...touched.mints], MINTS_PER_RECORD))
      records.push({ kind: 'recompute', partition, mints, slots });
  return records;
}

/** At least one part, so that there is a record also where no mint was touched. */
function parts<T>(list: readonly T[], size: number): T[][] {
  const count = Math.max(1, Math.ceil(list.length / size));
  return Array.from({ length: count }, (_, at) => list.slice(at * size, (at + 1) * size));
}

/** @throws ConfigError where another database serves by now; Error where the signal was given first. */
async function untilApplied(
  { home, signal, say }: ReplayContext,
  store: Store,
  place: string,
  offset: bigint,
): Promise<void> {
  const since = performance.now();
  let told = false;
  while (!signal.aborted) {
    if (((await appliedOffsets(store)).get(place) ?? -1n) >= offset) return;
    if ((await readServing(home)).database !== store.database)
      throw new ConfigError(`another database than ${store.database} serves by now: run this again`);
    if (!told && performance.now() - since > PATIENCE_MS) {
      say('waiting for npm run materialise, which works the sums out again');
      told = true;
    }
    await pause(LOOK_EVERY_MS, signal);
  }
  throw new Error('stopped while the sums were being worked out again');
}
