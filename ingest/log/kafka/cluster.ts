/** What the rest of this folder knows of a Kafka cluster. */

export interface KafkaSettings {
  /** host:port of some of the cluster's brokers. */
  brokers: string[];
  tls: boolean;
  sasl: { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string } | null;
  clientId: string;
  /** What is appended says that it is of this one, and what is read has to be; null or absent: of any. */
  program?: Uint8Array | null;
}

export interface WireMessage {
  topic: string;
  partition: number;
  key: Uint8Array | null;
  value: Uint8Array;
}

/** Where the first of some messages stands in its partition. */
export interface Appended {
  topic: string;
  partition: number;
  offset: bigint;
}

export interface WireProducer {
  /** Resolves once all in-sync replicas have them. Messages of one partition stay in order. One call at a time. */
  send(messages: readonly WireMessage[]): Promise<Appended[]>;
  close(): Promise<void>;
}

export interface WireRecord {
  offset: bigint;
  value: Uint8Array;
  writtenAt: number;
  /** Of which it says that it is; of those that went out together the first says so for all. */
  program?: Uint8Array | null;
}

/** Some messages of one partition, as one fetch brought them, with the unix milliseconds of their appending. */
export interface WireBatch {
  topic: string;
  partition: number;
  messages: WireRecord[];
  /** Tells the group that this member lives. @throws where the group goes on without it or rebalances. */
  heartbeat(): Promise<void>;
  /** Moves the group's place to `next`. @throws where the partition is no longer this member's. */
  commit(next: bigint): Promise<void>;
  /** Goes on behind `offset` in the next fetch, without telling the group. */
  passed(offset: bigint): void;
  /** Has the next fetch begin at `offset`; what is left of this batch is worthless. */
  rewind(offset: bigint): void;
  /** False once the consumer stops, or a seek has made the batch worthless. */
  running(): boolean;
}

export interface ConsumeOptions {
  group: string;
  topics: readonly string[];
  /** Batches of different partitions come at once, those of one partition one after the other. */
  onBatch(batch: WireBatch): Promise<void>;
  /** The group gave this member these partitions by topic; those it had before and no longer has are gone. */
  onAssigned(assignment: ReadonlyMap<string, readonly number[]>): void;
  /** What was assigned is being taken away; with the error that did it, where it was no other member. */
  onRevoked(why: Error | null): void;
  /** The consumer is at its end and does not start again by itself. */
  onCrash(error: Error): void;
}

export interface WireConsumer {
  seek(topic: string, partition: number, offset: bigint): void;
  stop(): Promise<void>;
}

export interface PartitionOffsets {
  partition: number;
  low: bigint;
  /** The offset that the next message gets. */
  high: bigint;
}

export interface NewTopic {
  topic: string;
  partitions: number;
  replication: number;
  config: Record<string, string>;
}

export interface KafkaClient {
  /** Of which its records are; null where nobody asks. */
  readonly program: Uint8Array | null;
  brokerCount(): Promise<number>;
  /** Partitions of each of these topics; one that does not exist is not in the answer. */
  partitionCounts(topics: readonly string[]): Promise<Map<string, number>>;
  createTopics(topics: readonly NewTopic[]): Promise<void>;
  /** Some settings of a topic, as they hold there. */
  topicConfig(topic: string, names: readonly string[]): Promise<Map<string, string>>;
  offsets(topic: string): Promise<PartitionOffsets[]>;
  /** The first offset that was appended at or after a time, in unix milliseconds; the end where there is none. */
  offsetsAt(topic: string, millis: number): Promise<Map<number, bigint>>;
  /** How many consumers are in a group. */
  groupMembers(group: string): Promise<number>;
  /** Where a group goes on in a topic, by partition; null where it has committed nothing. */
  groupOffsets(group: string, topic: string): Promise<Map<number, bigint | null>>;
  deleteGroup(group: string): Promise<void>;
  producer(): Promise<WireProducer>;
  /** @throws where the brokers refuse the group, or its topics, to this login: it does not start again by itself. */
  consume(options: ConsumeOptions): Promise<WireConsumer>;
  close(): Promise<void>;
}
