import type { IHeaders } from 'kafkajs';
import { named, ofAnotherProgram } from '../../../clickhouse/queries/progress/indexed-program.ts';
import { ConfigError } from '../../../runtime/errors.ts';
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

/** Of another program than the one that is asked for: the first such record of a batch. */
export interface Foreign {
  other: string;
  programId: string;
  /** Where it stands in the log, and when it was appended. */
  place: string;
}

/** What a batch of history has of another program: sums without the history of the one would look whole. */
export function foreignIn(
  client: Pick<KafkaClient, 'program'>,
  prefix: string,
  { topic, partition, messages }: Pick<WireBatch, 'topic' | 'partition' | 'messages'>,
): Foreign | null {
  const { program } = client;
  const own = topicOf(prefix, topic);
  if (program === null || own === null || !HISTORY_TOPICS.includes(own)) return null;
  for (const { program: said, offset, writtenAt } of messages) {
    if (said == null || Buffer.compare(said, program) === 0) continue;
    const place = `${topic}/${partition} at offset ${offset}, written ${timeOf(writtenAt)}`;
    return { other: encodeBase58(said), programId: encodeBase58(program), place };
  }
  return null;
}

/** Who has nothing of a log yet was given one of another. */
export const logOfAnother = (prefix: string, { other, programId }: Foreign): ConfigError =>
  ofAnotherProgram(`the log of KAFKA_TOPIC_PREFIX ${prefix}`, other, programId);

/** To go on with it as the other would be no better, where both have written to it. */
export const logOfTwo = (prefix: string, { other, programId, place }: Foreign): ConfigError =>
  new ConfigError(
    `the log of KAFKA_TOPIC_PREFIX ${prefix} has records of the program ${named(other)} (${place}), and PROGRAM_ID is ${named(programId)}: another wrote to it, and neither goes on with it. Give ${programId} a log of its own in another KAFKA_TOPIC_PREFIX with an empty database (CLICKHOUSE_URL), and run migrate. Where that database was filled from another log, give it that one back`,
  );

/** A time of an append is of whoever appended: it need not be one. */
const timeOf = (millis: number): string => {
  const time = new Date(millis);
  return Number.isNaN(time.getTime()) ? 'at an unknown time' : time.toISOString();
};
