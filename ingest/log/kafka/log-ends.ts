import { setTimeout } from 'node:timers/promises';
import { ConfigError } from '../../../runtime/errors.ts';
import type { KafkaClient } from './cluster.ts';

/** Where each partition ended after this process had last appended to it. */
export interface LogEnds {
  /** Checks that every partition still reaches its end. @throws ConfigError where one has lost it */
  assertNotTruncated(): Promise<void>;
  /**
   * `count` messages were appended, the first at offset `first`.
   * @throws ConfigError where that is before the known end
   */
  appended(topic: string, partition: number, first: bigint, count: number): void;
}

const LOOKS = 5;
const LOOK_EVERY_MS = 1_000;

/**
 * A problem with the ends of a log counts only once each of several looks has found it: a new leader, or one that stood
 * still and does not know yet that another leads, reports an older end for a moment.
 * @param look throws a problem that it finds as a ConfigError
 */
export async function throwIfPersistent(look: () => Promise<void>, everyMs = LOOK_EVERY_MS): Promise<void> {
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
 * A partition that ends before the last records appended to it has lost them: a broker came back without its newest
 * files, or a broker leads that never had them. New records would get offsets that readers and sums have passed
 * already.
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
    assertNotTruncated: () => throwIfPersistent(look, everyMs),
    appended: (topic, partition, first, count) => {
      // An acknowledgement need not tell the offset.
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
