import type { AppliedPlace } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { ConfigError } from '../../../runtime/errors.ts';
import { HISTORY_TOPICS } from '../port.ts';
import type { KafkaClient } from './cluster.ts';
import { throwIfPersistent } from './log-ends.ts';
import { topicName } from './topics.ts';

type Applied = ReadonlyMap<string, AppliedPlace>;

const EMPTY_DATABASE =
  'Give this log an empty database (CLICKHOUSE_URL) and run migrate, or the other log back (KAFKA_TOPIC_PREFIX).';

/**
 * Checks that a log may be written to. Where it has lost its end or is another log, new records would get offsets that
 * sums have counted already; where it has grown past its old end unnoticed, such records are there.
 * @throws ConfigError that says what to do.
 */
export async function assertLogReachesApplied(
  client: Pick<KafkaClient, 'offsets' | 'offsetsAt'>,
  prefix: string,
  database: string,
  applied: Applied,
  everyMs?: number,
): Promise<void> {
  await throwIfPersistent(() => reachesApplied(client, prefix, database, applied), everyMs);
}

async function reachesApplied(
  client: Pick<KafkaClient, 'offsets' | 'offsetsAt'>,
  prefix: string,
  database: string,
  applied: Applied,
): Promise<void> {
  const places = await placesOf(client, prefix, applied);
  for (const { name, partition, high, next } of places) {
    if (next > high)
      throw new ConfigError(
        `${database} was filled from another log, or this one has lost its end: ${next - 1n} of ${name}/${partition} is applied, which ends at ${high}. Nothing is written, for its offsets would be used a second time. ${EMPTY_DATABASE}`,
      );
  }
  for (const place of places) await assertNotOverwritten(client, database, place);
}

/**
 * Checks that a database can go on with this log. Sums are versioned by the log's offsets: those of a log that begins
 * anew would lose against the stored ones; and records that retention deleted before they were applied are nowhere.
 * @throws ConfigError that says what to do.
 */
export async function assertSameLog(
  client: Pick<KafkaClient, 'offsets' | 'offsetsAt'>,
  prefix: string,
  database: string,
  applied: Applied,
  everyMs?: number,
): Promise<void> {
  await assertLogReachesApplied(client, prefix, database, applied, everyMs);
  for (const { name, partition, low, next } of await placesOf(client, prefix, applied)) {
    if (next < low)
      throw new ConfigError(
        `${database} has nothing of ${name}/${partition} from ${next} on, and retention has deleted what is before ${low}. Begin a new log (KAFKA_TOPIC_PREFIX) with an empty database (CLICKHOUSE_URL), and run migrate: ingest reads history over RPC.`,
      );
  }
}

interface Place {
  name: string;
  partition: number;
  low: bigint;
  high: bigint;
  /** The first offset that is not applied. */
  next: bigint;
  writtenAt: number | null;
}

/** A record at an applied offset that was appended later than the newest applied one is not the one applied there. */
async function assertNotOverwritten(
  client: Pick<KafkaClient, 'offsetsAt'>,
  database: string,
  { name, partition, next, writtenAt }: Place,
): Promise<void> {
  if (writtenAt === null) return;
  const newer = (await client.offsetsAt(name, writtenAt + 1)).get(partition);
  if (newer === undefined || newer >= next) return;
  const until = new Date(writtenAt).toISOString();
  throw new ConfigError(
    `${database} was filled from another log, or this one has lost its end and has grown past it: of ${name}/${partition} what is before ${next} is applied and was written until ${until}, but ${newer} was written later. Nothing is written. ${EMPTY_DATABASE}`,
  );
}

/** Every partition, and the first offset of it that is not applied. */
async function placesOf(
  client: Pick<KafkaClient, 'offsets'>,
  prefix: string,
  applied: Applied,
): Promise<Place[]> {
  const places = await Promise.all(
    HISTORY_TOPICS.map(async (topic) => {
      const name = topicName(prefix, topic);
      const offsets = await client.offsets(name);
      return offsets.map((place) => {
        const known = applied.get(`${topic}/${place.partition}`);
        return { ...place, name, next: (known?.offset ?? -1n) + 1n, writtenAt: known?.writtenAt ?? null };
      });
    }),
  );
  return places.flat();
}
