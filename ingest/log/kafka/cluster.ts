/** What the rest of this folder knows of a Kafka cluster. */

export interface KafkaSettings {
  /** host:port of some of the cluster's brokers. */
  brokers: string[];
  tls: boolean;
  sasl: { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string } | null;
  clientId: string;
  /** The log's program: appended records name it, and those that are read may name no other; null or absent: any. */
  program?: Uint8Array | null;
}

export interface WireMessage {
  topic: string;
  partition: number;
  key: Uint8Array | null;
  value: Uint8Array;
}

/** The offset of the first of the messages that one send appended to a partition. */
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
  /** The program that the record names; of the records of one send to a partition only the first does, for all. */
  program?: Uint8Array | null;
}

/** Messages of one partition as one fetch brought them, with the unix milliseconds at which each was appended. */
export interface WireBatch {
  topic: string;
  partition: number;
  messages: WireRecord[];
  /** Tells the group that this member is alive. @throws where the group goes on without it or rebalances. */
  heartbeat(): Promise<void>;
  /** Moves the group's place to `next`. @throws where the partition is no longer this member's. */
  commit(next: bigint): Promise<void>;
  /** Has the next fetch begin behind `offset`, without committing it. */
  advancePast(offset: bigint): void;
  /** Has the next fetch begin at `offset`; the rest of this batch must not be applied. */
  rewind(offset: bigint): void;
  /** False once the consumer stops, or a seek has made the batch stale. */
  running(): boolean;
}

export interface ConsumeOptions {
  group: string;
  topics: readonly string[];
  /** Batches of different partitions come at once, those of one partition one after the other. */
  onBatch(batch: WireBatch): Promise<void>;
  /** The group assigned these partitions to this member, by topic, in place of all that it had before. */
  onAssigned(assignment: ReadonlyMap<string, readonly number[]>): void;
  /** The assignment is being taken away; `why` is the error behind it, null for a rebalance. */
  onRevoked(why: Error | null): void;
  /** The consumer has ended and does not restart by itself. */
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
  /** The program that its records belong to; null where that is not checked. */
  readonly program: Uint8Array | null;
  brokerCount(): Promise<number>;
  /** Partitions of each of these topics; one that does not exist is not in the answer. */
  partitionCounts(topics: readonly string[]): Promise<Map<string, number>>;
  createTopics(topics: readonly NewTopic[]): Promise<void>;
  /** The values that a topic has for these settings. */
  topicConfig(topic: string, names: readonly string[]): Promise<Map<string, string>>;
  offsets(topic: string): Promise<PartitionOffsets[]>;
  /** The first offset that was appended at or after a time, in unix milliseconds; the end where there is none. */
  offsetsAt(topic: string, millis: number): Promise<Map<number, bigint>>;
  /** How many consumers are in a group. */
  groupMembers(group: string): Promise<number>;
  /** The offset that a group reads next in a topic, by partition; null where it has committed nothing. */
  groupOffsets(group: string, topic: string): Promise<Map<number, bigint | null>>;
  deleteGroup(group: string): Promise<void>;
  producer(): Promise<WireProducer>;
  /** @throws where brokers refuse this login the group or its topics: such a consumer does not restart by itself. */
  consume(options: ConsumeOptions): Promise<WireConsumer>;
  close(): Promise<void>;
}
