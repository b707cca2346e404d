import type { Offsets } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import { TOPICS } from '../port.ts';
import type { KafkaClient } from './cluster.ts';
import { topicName } from './topics.ts';

export interface LostGroupOffsets {
  prefix: string;
  /** The consumer group that fills the database. */
  group: string;
  /** The last applied offset of each partition, as the database has it. */
  applied: Offsets;
  logger: Logger;
}

/**
 * Warns where a group has no committed offsets in the log that its database was filled from: brokers forget those of a
 * group that had no member for a week, and it reads from the beginning then. Records that come again change nothing,
 * and nothing new is applied before they are through.
 */
export async function warnOfLostGroupOffsets(
  client: Pick<KafkaClient, 'groupOffsets' | 'offsets'>,
  { prefix, group, applied, logger }: LostGroupOffsets,
): Promise<void> {
  if (applied.size === 0) return;
  try {
    const records = await appliedWithoutPlace(client, prefix, group, applied);
    if (records > 0n)
      logger.warn(
        { group, records: Number(records) },
        'the brokers have forgotten the group’s place: the log is read again from its beginning, and no figure moves until what is applied already is through',
      );
  } catch (error) {
    // This only warns: if brokers do not answer, reading the log fails with its own error.
    logger.debug({ error: messageOf(error) }, 'whether the group has a place in the log is not known');
  }
}

/** How many applied records the log still has in partitions where the group has committed nothing. */
async function appliedWithoutPlace(
  client: Pick<KafkaClient, 'groupOffsets' | 'offsets'>,
  prefix: string,
  group: string,
  applied: Offsets,
): Promise<bigint> {
  let records = 0n;
  for (const topic of TOPICS) {
    const name = topicName(prefix, topic);
    const places = await client.groupOffsets(group, name);
    for (const { partition, low } of await client.offsets(name)) {
      const next = (applied.get(`${topic}/${partition}`) ?? -1n) + 1n;
      if ((places.get(partition) ?? null) === null && next > low) records += next - low;
    }
  }
  return records;
}
