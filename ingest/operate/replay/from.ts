import type { Store } from '../../../clickhouse/client.ts';
import { appliedOffsets } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { ConfigError } from '../../../runtime/errors.ts';
import { isDay } from '../../../schemas/iso-time.ts';
import { logRanges, type Range, recordsIn, withParts } from '../../log/kafka/offset-ranges.ts';
import { topicName } from '../../log/kafka/topics.ts';
import type { Topic } from '../../log/port.ts';
import type { ReplayContext } from './context.ts';
import { rereadRanges } from './rewrite-ranges.ts';

/** Where to begin: an offset of every partition, or the unix milliseconds at which the log was given a record. */
export type From = { offset: bigint } | { millis: number };

/** Not dead letters: they are about records that are read again anyway, or stand alone and are stored already. */
const READ_AGAIN: readonly Topic[] = ['accounts', 'transactions', 'readings'];

const OFFSET = /^\d{1,18}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** @param now unix milliseconds. @throws ConfigError */
export function parseFrom(text: string, now = Date.now()): From {
  if (OFFSET.test(text)) return { offset: BigInt(text) };
  const millis = TIME.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (millis > now)
    throw new ConfigError(`--from ${text} is still to come: the log has nothing from then on to read again`);
  if (!Number.isNaN(millis)) return { millis };
  throw new ConfigError(
    `--from must be an offset or a time like 2026-01-31T12:00:00Z, not "${text}": npm run replay -- --help`,
  );
}

/**
 * Re-reads the log from a place up to what is applied, into the serving database, beside live. Rows that a mended
 * decoder makes otherwise are corrected; rows that it no longer makes stay, and only a whole replay is rid of them.
 * @throws ConfigError where it is stopped or the database is switched before the end.
 */
export async function replayFrom(context: ReplayContext, store: Store, from: From): Promise<void> {
  const ranges = await rangesFrom(context, store, from);
  const begin = new Map(ranges.map((range) => [`${range.topic}/${range.partition}`, range.from]));
  const read = ranges.map((range) => withParts(range, range.low));
  await rereadRanges(context, store, read, async (batch, write) => {
    const first = begin.get(`${batch.topic}/${batch.partition}`) ?? 0n;
    const entries = batch.entries.filter(({ offset }) => offset >= first);
    if (entries.length > 0) await write({ ...batch, entries });
  });
  context.say(`${recordsIn(ranges)} records were re-read into ${store.database}`);
}

interface HeldRange extends Range {
  /** The first offset of the partition that the log has. */
  low: bigint;
}

/** From the given place to the last record that the serving database has applied. */
async function rangesFrom(
  { kafka, prefix, say }: ReplayContext,
  store: Store,
  from: From,
): Promise<HeldRange[]> {
  const applied = await appliedOffsets(store);
  const ranges: HeldRange[] = [];
  for (const topic of READ_AGAIN) {
    const begin = 'millis' in from ? await kafka.offsetsAt(topicName(prefix, topic), from.millis) : null;
    for (const { partition, from: low, to: high } of await logRanges(kafka, prefix, [topic])) {
      const wanted = 'offset' in from ? from.offset : (begin?.get(partition) ?? low);
      const isCut = wanted < low;
      if (isCut) say(`${topicName(prefix, topic)}/${partition} begins at ${low}: retention has cut the rest`);
      const end = (applied.get(`${topic}/${partition}`) ?? -1n) + 1n;
      // A topic of readings that has lost its end is not refused, and what is lost never comes.
      ranges.push({ topic, partition, low, from: isCut ? low : wanted, to: end < high ? end : high });
    }
  }
  return ranges.filter((range) => range.from < range.to);
}
