import { createLru } from '../../../runtime/lru.ts';
import { type Bucket, createBucket } from '../../../runtime/outside/bucket.ts';
import { rateLimited } from '../refusal.ts';

/** Waits until a token or a signature from this address may be checked. @throws Refusal rate_limited */
export type Admit = (address: string) => Promise<void>;

export interface SuspectOptions {
  /** Whether an address has used up its failed attempts. */
  isSuspect(address: string): boolean;
  perSecond?: number;
  waitMs?: number;
}

const PER_SECOND = 10;
const MOST_WAITING = 16;
const WAIT_MS = 5_000;
const ADDRESSES = 20_000;

/**
 * Only a check tells whether a token or a signature is good, and checks are what a flood of bad ones costs. An address
 * that has used up its failed attempts gets a few checks a second, one after the other: a good one still passes.
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

/**
 * Names the limit of the address, not a busy service: it has used up its attempts, however many of its requests wait.
 */
const tooMany = () =>
  rateLimited(
    'the attempts of this address are used up, and too many of its requests are waiting to be checked',
    1,
  );
