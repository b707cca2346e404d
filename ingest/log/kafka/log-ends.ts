import { setTimeout } from 'node:timers/promises';
import { ConfigError } from '../../../runtime/errors.ts';
import type { KafkaClient } from './cluster.ts';

/** Where the partitions ended when this process had appended to them last. */
export interface LogEnds {
  /** Looks whether they end there still. @throws ConfigError where one has lost its end */
  mustStand(): Promise<void>;
  /** So many were appended to a partition, the first at that offset. @throws ConfigError where that was behind its end */
  appended(topic: string, partition: number, first: bigint, count: number): void;
}

const LOOKS = 5;
const LOOK_EVERY_MS = 1_000;

/**
 * What a look at the ends of a log finds wrong is true once each of several has found it: a leader that is new, or one that
 * stood still and does not know yet that another leads, tells an older end for a moment.
 * @param look throws what it finds as a ConfigError
 */
export async function mustHoldLastingly(look: () => Promise<void>, everyMs = LOOK_EVERY_MS): Promise<void> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof ConfigError) || looks === LOOKS) throw error;
      await setTimeout(everyMs);
    }
  }
}

/**
 * A partition that ends before what was appended to it has lost it: a broker came back without its newest files, or one
 * leads that never had them. What is appended then would stand at offsets that readers have passed, and sums have.
 */
export function createLogEnds(client: Pick<KafkaClient, 'offsets'>, everyMs?: number): LogEnds {
  const ends = new Map<string, Map<number, bigint>>();

  const look = async (): Promise<void> => {
    for (const [topic, partitions] of ends) {
      for (const { partition, high } of await client.offsets(topic)) {
        const end = partitions.get(partition);
        if (end !== undefined && high < end) throw lostEnd(topic, partition, end, high);
      }
    }
  };

  return {
    mustStand: () => mustHoldLastingly(look, everyMs),
    appended: (topic, partition, first, count) => {
      // An acknowledgement need not say where.
      if (first < 0n) return;
      const partitions = ends.get(topic) ?? new Map<number, bigint>();
      ends.set(topic, partitions);
      const end = partitions.get(partition);
      if (end !== undefined && first < end) throw lostEnd(topic, partition, end, first);
      partitions.set(partition, first + BigInt(count));
    },
  };
}

const lostEnd = (topic: string, partition: number, end: bigint, found: bigint) =>
  new ConfigError(
    `the log has lost its end: ${topic}/${partition} had all before ${end} from this process, and goes on at ${found}. Nothing more is written. Start it again: it goes on where the log ends now, or says what to do where more than that is applied.`,
  );
