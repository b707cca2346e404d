import { createLru } from '../../../runtime/lru.ts';
import { type Bucket, createBucket } from '../../../runtime/outside/bucket.ts';
import { rateLimited } from '../refusal.ts';

/** Waits until what an address claims may be looked up. @throws Refusal rate_limited */
export type Admit = (address: string) => Promise<void>;

export interface SuspectOptions {
  /** Whether the attempts of an address are used up. */
  isSuspect(address: string): boolean;
  perSecond?: number;
  waitMs?: number;
}

const PER_SECOND = 10;
const MOST_WAITING = 16;
const WAIT_MS = 5_000;
const ADDRESSES = 20_000;

/**
 * Whether a token or a signature is good is known only once it is looked at, and that is what a flood of bad ones costs.
 * Those of an address that has used up its attempts are looked at a few a second, one after the other: a good one among
 * them still passes.
 */
export function createSuspects({
  isSuspect,
  perSecond = PER_SECOND,
  waitMs = WAIT_MS,
}: SuspectOptions): Admit {
  const lines = createLru<{ bucket: Bucket; waiting: number }>(ADDRESSES);
  return async (address) => {
    if (!isSuspect(address)) return;
    const line = lines.get(address) ?? { bucket: createBucket(perSecond, 1), waiting: 0 };
    lines.set(address, line);
    if (line.waiting >= MOST_WAITING) throw tooMany();
    line.waiting += 1;
    try {
      if (!(await line.bucket.take(AbortSignal.timeout(waitMs)))) throw tooMany();
    } finally {
      line.waiting -= 1;
    }
  };
}

/** It has had all its attempts: what it is refused is its own limit, however long its line is. */
const tooMany = () =>
  rateLimited('the attempts of this address are used up, and more wait to be looked at than may', 1);
