import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError, RetryableError } from '../../runtime/errors.ts';
import { doneWithin } from '../../runtime/process/lifecycle.ts';
import type { Store } from '../client.ts';
import { lockTable } from './lock-table.ts';
import type { LockTimes } from './migration-lock.ts';

/** The table that is the lease. */
export const LEASE = 'log_lease';

export type LeaseTimes = Pick<LockTimes, 'everyMs' | 'staleSeconds'>;

const TIMES: LeaseTimes = { everyMs: 2_000, staleSeconds: 8 };
/** On a cluster each sign of life is a task for every node, in a queue that keeps a thousand. */
const TIMES_OF_CLUSTER: LeaseTimes = { everyMs: 15_000, staleSeconds: 60 };
const RELEASE_WITHIN_MS = 2_000;

/** Held while a database is filled from the log of this process: two logs in two processes use the same offsets. */
export interface LogLease {
  /** False once another process may hold it: nothing more may be written then. */
  isHeld(): boolean;
  /** Rejects once another process holds it, or has held it. */
  lost: Promise<never>;
  release(): Promise<void>;
}

/**
 * Takes the lease for as long as the process runs. Where its holder was killed, waits until that one counts as dead.
 * @param onWait called once where the lease has a holder that may be alive
 * @throws ConfigError where a living process holds it.
 */
export async function takeLogLease(
  store: Store,
  onCluster: string,
  onWait: (seconds: number) => void = () => {},
  times = onCluster === '' ? TIMES : TIMES_OF_CLUSTER,
): Promise<LogLease> {
  const lock = lockTable(store, onCluster, LEASE);
  const holder = randomUUID();
  const signs = new Set<string>();
  let heldAt = performance.now();
  while (!(await lock.take(holder))) {
    const sign = (await lock.held())?.sign;
    if (sign !== undefined && signs.size === 0) onWait(times.staleSeconds);
    if (sign !== undefined) signs.add(sign);
    // A sign that a killed holder had sent may still come; a second new sign is of a living one.
    if (signs.size > 2)
      throw new ConfigError(
        `another npm start fills the database ${store.database} from a log of its own: stop that one, name another database in CLICKHOUSE_URL, or a log for both in KAFKA_BROKERS. One that was killed keeps it for ${times.staleSeconds} s.`,
      );
    await lock.removeStale(times.staleSeconds);
    await delay(times.everyMs);
    heldAt = performance.now();
  }
  const made = await lock.held();
  if (!made?.sign.startsWith(holder))
    throw new RetryableError(`the database ${store.database} was taken by another npm start: start again`);
  let isLost = false;
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => undefined);
  let beats = 0;
  const beat = async () => {
    beats += 1;
    const begunAt = performance.now();
    const failed = await lock.beat(`${holder} ${beats}`).then(
      () => false,
      () => true,
    );
    // Looked up after the sign: if the table is ours now, the sign was on ours.
    if ((await lock.held())?.uuid !== made.uuid) {
      isLost = true;
      clearInterval(alive);
      lost.reject(
        new RetryableError(
          `another npm start fills the database ${store.database} since this one gave no sign of life for ${times.staleSeconds} s: this one ends`,
        ),
      );
    } else if (!failed) heldAt = begunAt;
  };
  let beating: Promise<void> | null = null;
  const alive = setInterval(() => {
    // A sign of life that the database does not answer is followed by others.
    beating ??= beat()
      .catch(() => undefined)
      .finally(() => {
        beating = null;
      });
  }, times.everyMs);
  return {
    isHeld: () => !isLost && performance.now() - heldAt < times.staleSeconds * 1_000,
    lost: lost.promise,
    release: async () => {
      clearInterval(alive);
      const released = (beating ?? Promise.resolve()).then(() => (isLost ? undefined : lock.release(holder)));
      // A lease that is not given back, because the database does not answer, expires soon.
      await doneWithin(RELEASE_WITHIN_MS, released).catch(() => undefined);
    },
  };
}
