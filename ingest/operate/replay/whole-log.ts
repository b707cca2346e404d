import type { Offsets } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { ConfigError } from '../../../runtime/errors.ts';
import type { KafkaClient } from '../../log/kafka/cluster.ts';
import { logRanges, type Range } from '../../log/kafka/offset-ranges.ts';
import { topicName } from '../../log/kafka/topics.ts';

/**
 * Checks that the log holds everything from history's first slot on. Ingest begins an empty log with a gap that reaches
 * back to that slot, on every partition, and appends everything behind it: so a log that still has its first records,
 * and all that was ever applied from it, is whole. A later first record would miss account states that never changed
 * since.
 * @param applied what the serving database has applied.
 * @throws ConfigError that says what is missing and what to do.
 */
export async function assertLogIsWhole(client: KafkaClient, prefix: string, applied: Offsets): Promise<void> {
  const ranges = await logRanges(client, prefix);
  const cut = ranges.find(({ from }) => from > 0n);
  if (cut !== undefined) throw new ConfigError(`${cutSentence(prefix, cut)} ${REMEDY}`);
  const empty = ranges.find(({ topic, to }) => topic === 'transactions' && to === 0n);
  if (empty !== undefined) {
    throw new ConfigError(
      `the log does not begin at history's first slot: partition ${empty.partition} of ${topicName(prefix, empty.topic)} is empty, it lacks even the record that opens history. ${REMEDY}`,
    );
  }
  for (const { topic, partition, to } of ranges) {
    const last = applied.get(`${topic}/${partition}`);
    if (last === undefined || last < to) continue;
    throw new ConfigError(
      `the log is not the one that the serving database was made from: ${topicName(prefix, topic)}/${partition} ends at ${to}, and ${last} is applied. ${REMEDY}`,
    );
  }
}

const REMEDY =
  'Nothing was changed. npm run replay -- --from re-reads what is left into the serving database; a whole log begins when ingest runs on new topics (KAFKA_TOPIC_PREFIX).';

function cutSentence(prefix: string, { topic, partition, from }: Range): string {
  return `the log does not begin at history's first slot: retention has cut ${topicName(prefix, topic)}/${partition}, whose first record is ${from} by now.`;
}
