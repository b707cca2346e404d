import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Store } from '../client.ts';
import { lockTable } from './lock-table.ts';

/** The table that is the lock. */
export const LOCK = 'migration_lock';

export interface LockTimes {
  /** The time between two tries, and between two signs of life of the holder. */
  everyMs: number;
  /** A holder without a sign of life for so long has died. By the database's clock, in whole seconds. */
  staleSeconds: number;
  /** How long to wait for a living holder. */
  patienceMs: number;
}

const TIMES: LockTimes = { everyMs: 1_000, staleSeconds: 15, patienceMs: 300_000 };

/**
 * Runs `task` while no other process does. The lock is taken from a holder that died.
 * @throws Error where a living holder does not finish.
 */
export async function underMigrationLock<T>(
  store: Store,
  onCluster: string,
  task: () => Promise<T>,
  times = TIMES,
): Promise<T> {
  const lock = lockTable(store, onCluster, LOCK);
  const holder = randomUUID();
  const until = performance.now() + times.patienceMs;
  while (!(await lock.take(holder))) {
    if (performance.now() > until)
      throw new Error('another process has been migrating the database for too long');
    await lock.removeStale(times.staleSeconds);
    await delay(times.everyMs);
  }
  let beats = 0;
  let beating: Promise<void> = Promise.resolve();
  const alive = setInterval(() => {
    beats += 1;
    const sign = `${holder} ${beats}`;
    // A sign of life that fails is followed by others.
    beating = beating.then(() => lock.beat(sign)).catch(() => undefined);
  }, times.everyMs);
  try {
    return await task();
  } finally {
    clearInterval(alive);
    // The table must not be changed while it is dropped.
    await beating;
    await lock.release(holder);
  }
}
