import type { Offsets } from '../../../clickhouse/queries/applied-offsets.ts';
import { ConfigError } from '../../../runtime/errors.ts';
import { HISTORY_TOPICS } from '../port.ts';
import type { KafkaClient } from './cluster.ts';
import { topicName } from './topics.ts';

/**
 * That a database can go on with this log, and that it may be written to. Sums are versioned by the log's offsets: those of a log that begins anew
 * would lose against what is there; and what retention has deleted before it was applied is nowhere.
 * @throws ConfigError that says what to do.
 */
export async function mustBeSameLog(
  client: KafkaClient,
  prefix: string,
  database: string,
  applied: Offsets,
): Promise<void> {
  for (const topic of HISTORY_TOPICS) {
    const name = topicName(prefix, topic);
    for (const { partition, low, high } of await client.offsets(name)) {
      const next = (applied.get(`${topic}/${partition}`) ?? -1n) + 1n;
      if (next > high)
        throw new ConfigError(
          `${database} was filled from another log, or this one has lost its end: ${next - 1n} of ${name}/${partition} is applied, which ends at ${high}. Nothing is written, for its offsets would be used a second time. Give this log an empty database (CLICKHOUSE_URL) and run migrate, or the other log back (KAFKA_TOPIC_PREFIX).`,
        );
      if (next < low)
        throw new ConfigError(
          `${database} has nothing of ${name}/${partition} from ${next} on, and retention has deleted what is before ${low}. Begin a new log (KAFKA_TOPIC_PREFIX) with an empty database (CLICKHOUSE_URL), and run migrate: ingest reads history over RPC.`,
        );
    }
  }
}
