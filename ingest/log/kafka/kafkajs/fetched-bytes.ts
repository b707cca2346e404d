import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import type { Runner } from './stop.ts';

/** Bytes that one fetch may unpack: a process, in a container of 1 GB, also holds what it makes of them. */
const MOST_FETCHED_BYTES = 64 * 1024 * 1024;

/** By its name, what kafkajs throws where a fetch ends in the middle of a batch: it fetches the rest next. */
class BeyondFetchError extends Error {
  override name = 'KafkaJSPartialMessageError';
}

const fetches = new AsyncLocalStorage<{ bytes: number }>();
const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js') as {
  prototype: Runner;
};
const { fetch } = prototype;

/**
 * A fetch is bounded by its compressed size, and kafkajs unpacks all of it before it hands out any: repetitive data,
 * which strangers can choose, becomes a thousand times as much. So each fetch counts the bytes that it unpacks.
 */
prototype.fetch = function (nodeId) {
  return asOneFetch(() => fetch.call(this, nodeId));
};

/** Counts what is unpacked within by itself. */
export const asOneFetch = <T>(work: () => Promise<T>): Promise<T> => fetches.run({ bytes: 0 }, work);

/** Unpacks a batch. A fetch that has unpacked enough leaves it to the next, whose first batch is always unpacked. */
export async function withinFetch(unpack: () => Promise<Buffer>): Promise<Buffer> {
  const fetched = fetches.getStore();
  if (fetched === undefined) return unpack();
  if (fetched.bytes >= MOST_FETCHED_BYTES) throw new BeyondFetchError('left for the next fetch');
  const unpacked = await unpack();
  fetched.bytes += unpacked.length;
  return unpacked;
}
