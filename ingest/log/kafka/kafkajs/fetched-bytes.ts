import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import type { Runner } from './stop.ts';

/** Of what one fetch brings, unpacked: beside it a process holds what it makes of that, in a container of 1 GB. */
const MOST_FETCHED_BYTES = 64 * 1024 * 1024;

/** What ends the messages of a partition where a fetch ends in the middle of a batch: kafkajs asks for the rest next. */
class BeyondFetchError extends Error {
  override name = 'KafkaJSPartialMessageError';
}

const fetches = new AsyncLocalStorage<{ bytes: number }>();
const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js') as {
  prototype: Runner;
};
const { fetch } = prototype;

/**
 * A fetch is bounded as it lies in the log, and all of it is unpacked before any of it is handed out: of data that
 * repeats, which strangers choose, a thousand times as much. So each counts what it unpacks.
 */
prototype.fetch = function (nodeId) {
  return fetches.run({ bytes: 0 }, () => fetch.call(this, nodeId));
};

/** The bytes of a batch unpacked; a fetch that has had enough leaves it for the next, whose first one always comes. */
export async function withinFetch(unpack: () => Promise<Buffer>): Promise<Buffer> {
  const fetched = fetches.getStore();
  if (fetched === undefined) return unpack();
  if (fetched.bytes >= MOST_FETCHED_BYTES) throw new BeyondFetchError('left for the next fetch');
  const unpacked = await unpack();
  fetched.bytes += unpacked.length;
  return unpacked;
}
