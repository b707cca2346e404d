import type { Bucket } from '../../runtime/outside/bucket.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';

/** Keeps the requests of the comparison within what a provider gives beside everything else. */
export function budgeted(rpc: Rpc, bucket: Pick<Bucket, 'take'>, signal: AbortSignal): Rpc {
  const pace = async () => {
    await bucket.take(signal);
    // One call can still contain many inner requests: it ends with the signal.
    signal.throwIfAborted();
  };
  return {
    ...rpc,
    getSignaturesForAddress: async (address, before, limit, read) => {
      await bucket.take(signal);
      return rpc.getSignaturesForAddress(address, before, limit, { ...read, pace });
    },
    getTransaction: async (...args) => {
      await bucket.take(signal);
      return rpc.getTransaction(...args);
    },
  };
}
