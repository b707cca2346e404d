import type { IHeaders } from 'kafkajs';
import { ofAnotherProgram } from '../../../clickhouse/queries/progress/indexed-program.ts';
import type { ConfigError } from '../../../runtime/errors.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { HISTORY_TOPICS } from '../port.ts';
import type { KafkaClient, WireBatch } from './cluster.ts';
import { topicOf } from './topics.ts';

/**
 * Of which program a log is stands in a header of its records, which retention leaves with each that it leaves, and who
 * does not know it passes over. A log that was written before there was one is of whoever goes on with it.
 */
const HEADER = 'program';

const KEY_BYTES = 32;

/** What the record of a partition carries: the first of each that goes out together says of which program all are. */
export function sayingProgram(program: Uint8Array | null): (partition: number) => { headers?: IHeaders } {
  const said = new Set<number>();
  return (partition) => {
    if (program === null || said.has(partition)) return {};
    said.add(partition);
    return { headers: { [HEADER]: Buffer.from(program) } };
  };
}

/** The program that a record names; null where it names none. */
export function programIn(headers: IHeaders | undefined): Uint8Array | null {
  const value = headers?.[HEADER];
  return value instanceof Uint8Array && value.length === KEY_BYTES ? value : null;
}

/** That a batch of history has records of another program: sums without the history of the one would look whole. */
export function ofAnother(
  client: Pick<KafkaClient, 'program'>,
  prefix: string,
  { topic, messages }: Pick<WireBatch, 'topic' | 'messages'>,
): ConfigError | null {
  const { program } = client;
  const own = topicOf(prefix, topic);
  if (program === null || own === null || !HISTORY_TOPICS.includes(own)) return null;
  for (const { program: named } of messages) {
    if (named != null && Buffer.compare(named, program) !== 0)
      return ofAnotherProgram(
        `the log of KAFKA_TOPIC_PREFIX ${prefix}`,
        encodeBase58(named),
        encodeBase58(program),
      );
  }
  return null;
}
