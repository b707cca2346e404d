import type { Offsets } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import { TOPICS } from '../port.ts';
import type { KafkaClient } from './cluster.ts';
import { topicName } from './topics.ts';

export interface ForgottenPlace {
  prefix: string;
  /** Of whoever fills the database. */
  group: string;
  /** The last offsets that the database has. */
  applied: Offsets;
  logger: Logger;
}

/**
 * Warns where a group has no place in what its database was filled from: brokers forget that of one which nobody was in for
 * a week, and then it reads from the beginning. What comes again changes nothing, and nothing new comes before it is through.
 */
export async function tellForgottenPlace(
  client: Pick<KafkaClient, 'groupOffsets' | 'offsets'>,
  { prefix, group, applied, logger }: ForgottenPlace,
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
    // It was to be told, no more: whoever reads the log says what is in the way.
    logger.debug({ error: messageOf(error) }, 'whether the group has a place in the log is not known');
  }
}

/** Records that the log and the database have, of partitions where the group has committed nothing. */
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
