import { createLru } from '../../../runtime/lru.ts';
import { type Bucket, createBucket } from '../../../runtime/outside/bucket.ts';
import { Refusal, rateLimited } from '../refusal.ts';

/** Limits one policy's session requests to this process, accepted or not: even a list of positions reads the chain. */
export type RequestBudget = <T>(mint: string, work: () => Promise<T>) => Promise<T>;

const PER_SECOND = 5;
const BURST = 300;
const AT_ONCE = 200;
const POLICIES = 100_000;

/** @throws Refusal rate_limited, or busy where too many of the policy's requests are under way. */
export function createRequestBudget(clock: () => number = () => performance.now()): RequestBudget {
  const buckets = createLru<Bucket>(POLICIES);
  const underWay = new Map<string, number>();
  return async (mint, work) => {
    const bucket = buckets.get(mint) ?? createBucket(PER_SECOND, BURST, clock);
    buckets.set(mint, bucket);
    if (!bucket.tryTake()) throw rateLimited(`${PER_SECOND} requests a second are the most for a policy`, 1);
    const others = underWay.get(mint) ?? 0;
    if (others >= AT_ONCE)
      throw new Refusal('busy', `${AT_ONCE} requests of this policy are under way; try again in 1 s`, 1);
    underWay.set(mint, others + 1);
    try {
      return await work();
    } finally {
      const left = (underWay.get(mint) ?? 1) - 1;
      if (left === 0) underWay.delete(mint);
      else underWay.set(mint, left);
    }
  };
}
