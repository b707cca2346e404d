import { createRequire } from 'node:module';
import { asOneFetch } from './fetched-bytes.ts';

/** A batch that is no longer what was sent: a disk or a network has changed it. kafkajs fetches it again. */
export class DamagedBatchError extends Error {
  override name = 'DamagedBatchError';
}

/** A batch that came damaged twice. Its consumer ends, since with each retry of kafkajs the group would rebalance. */
class LastingDamageError extends Error {
  override name = 'LastingDamageError';
  readonly retriable = false;
}

interface Asked {
  maxWaitTime: number;
  topics: { topic: string; partitions: { partition: number; fetchOffset: string }[] }[];
}

/** The fetch request of kafkajs 2.2.4 to one broker, which its types leave out. */
interface Broker {
  fetch(asked: Asked): Promise<unknown>;
}

const { prototype } = createRequire(import.meta.url)('kafkajs/src/broker/index.js') as { prototype: Broker };
const { fetch } = prototype;

/**
 * The code that unpacks a batch does not know its partition. So when a batch of a reply is damaged, each partition is
 * fetched by itself, and the fetch fails with the name of the first one that is damaged again.
 */
prototype.fetch = async function (asked) {
  try {
    return await fetch.call(this, asked);
  } catch (error) {
    if (!(error instanceof DamagedBatchError)) throw error;
    for (const { topic, partitions } of asked.topics)
      for (const one of partitions) {
        const alone = { ...asked, maxWaitTime: 0, topics: [{ topic, partitions: [one] }] };
        await asOneFetch(() => fetch.call(this, alone)).catch((again) => {
          if (!(again instanceof DamagedBatchError)) throw again;
          const { partition, fetchOffset } = one;
          throw new LastingDamageError(
            `${topic}/${partition} cannot be read on from offset ${fetchOffset}: ${again.message}`,
          );
        });
      }
    throw error;
  }
};
