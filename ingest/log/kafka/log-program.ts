import type { IHeaders } from 'kafkajs';
import { describeProgram, ofAnotherProgram } from '../../../clickhouse/queries/progress/indexed-program.ts';
import { ConfigError } from '../../../runtime/errors.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { HISTORY_TOPICS } from '../port.ts';
import type { KafkaClient, WireBatch } from './cluster.ts';
import { topicOf } from './topics.ts';

/**
 * The header in which records name the program that their log belongs to. Every record that retention leaves keeps it,
 * and a reader that does not know it passes over it. A log from before it existed belongs to the program that goes on
 * with it.
 */
const HEADER = 'program';

const KEY_BYTES = 32;

/** The headers of each record of a send, by partition: the first record to a partition names the program for all. */
export function createProgramHeaders(
  program: Uint8Array | null,
): (partition: number) => { headers?: IHeaders } {
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

/** The first record of a batch that names another program than PROGRAM_ID; both are base58. */
export interface ForeignRecord {
  other: string;
  programId: string;
  /** Where it stands in the log, and when it was appended. */
  place: string;
}

/** The first record of another program in a batch of history: sums that lack the history of one would look whole. */
export function findForeignRecord(
  client: Pick<KafkaClient, 'program'>,
  prefix: string,
  { topic, partition, messages }: Pick<WireBatch, 'topic' | 'partition' | 'messages'>,
): ForeignRecord | null {
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

/** The error for a process that has applied nothing of the log: the log it was given is another program's. */
export const foreignLogError = (prefix: string, { other, programId }: ForeignRecord): ConfigError =>
  ofAnotherProgram(`the log of KAFKA_TOPIC_PREFIX ${prefix}`, other, programId);

/** The error for a log that both programs have written to: it would be no better to go on with it as the other one. */
export const mixedLogError = (prefix: string, { other, programId, place }: ForeignRecord): ConfigError =>
  new ConfigError(
    `the log of KAFKA_TOPIC_PREFIX ${prefix} has records of the program ${describeProgram(other)} (${place}), and PROGRAM_ID is ${describeProgram(programId)}: both programs have written to this log; neither can use it. Give ${programId} a log of its own in another KAFKA_TOPIC_PREFIX with an empty database (CLICKHOUSE_URL), and run migrate. Where that database was filled from another log, give it that one back`,
  );

/** The appending client chooses the time of a record: it need not be a valid date. */
const timeOf = (millis: number): string => {
  const time = new Date(millis);
  return Number.isNaN(time.getTime()) ? 'at an unknown time' : time.toISOString();
};
