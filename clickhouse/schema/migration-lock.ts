import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import type { Store } from '../client.ts';

const TABLE_ALREADY_EXISTS = '57';
const UNKNOWN_TABLE = '60';

/** The table that is the lock. */
export const LOCK = 'migration_lock';

export interface LockTimes {
  /** Between two tries, and between two signs of life of the holder. */
  everyMs: number;
  /** A holder without a sign of life for so long has died. By the database's clock, in whole seconds. */
  staleSeconds: number;
  /** How long to wait for a living holder. */
  patienceMs: number;
}

const TIMES: LockTimes = { everyMs: 1_000, staleSeconds: 15, patienceMs: 300_000 };

/**
 * Runs `task` while no other process does. The lock is a table: making one is atomic, on a cluster by the order of
 * its DDL queue. It is taken from a holder that died.
 * @throws Error where a living holder does not finish.
 */
export async function alone<T>(
  store: Store,
  onCluster: string,
  task: () => Promise<T>,
  times = TIMES,
): Promise<T> {
  const holder = randomUUID();
  const until = performance.now() + times.patienceMs;
  while (!(await take(store, onCluster, holder))) {
    if (performance.now() > until)
      throw new Error('another process has been migrating the database for too long');
    await removeStale(store, onCluster, times.staleSeconds);
    await delay(times.everyMs);
  }
  let beats = 0;
  let beating: Promise<void> = Promise.resolve();
  const alive = setInterval(() => {
    beats += 1;
    const comment = `ALTER TABLE ${LOCK} ${onCluster} MODIFY COMMENT '${holder} ${beats}'`;
    // A sign of life that fails is followed by others.
    beating = beating.then(() => store.command(comment)).catch(() => undefined);
  }, times.everyMs);
  try {
    return await task();
  } finally {
    clearInterval(alive);
    // The table must not be changed while it is dropped.
    await beating;
    await release(store, onCluster, holder);
  }
}

async function take(store: Store, onCluster: string, holder: string): Promise<boolean> {
  const sql = `CREATE TABLE ${LOCK} ${onCluster} (nothing UInt8) ENGINE = Memory COMMENT '${holder}'`;
  return unless(TABLE_ALREADY_EXISTS, () => store.command(sql));
}

/** Of several that see one dead holder, one renames its table away: the new name is the dead table's own. */
async function removeStale(store: Store, onCluster: string, staleSeconds: number): Promise<void> {
  const [dead] = await store.query<{ uuid: string }>(
    `SELECT toString(uuid) AS uuid FROM system.tables
     WHERE database = currentDatabase() AND name = '${LOCK}'
       AND metadata_modification_time < now() - {staleSeconds:UInt32}`,
    { staleSeconds },
  );
  if (dead === undefined) return;
  const name = `${LOCK}_of_the_dead_${dead.uuid.replaceAll('-', '')}`;
  const sql = `RENAME TABLE ${LOCK} TO ${name} ${onCluster}`;
  await unless(TABLE_ALREADY_EXISTS, () => unless(UNKNOWN_TABLE, () => store.command(sql)));
}

async function release(store: Store, onCluster: string, holder: string): Promise<void> {
  const [held] = await store.query<{ comment: string }>(
    `SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = '${LOCK}'`,
  );
  if (held?.comment.startsWith(holder)) await store.command(`DROP TABLE IF EXISTS ${LOCK} ${onCluster} SYNC`);
}

/** False where the statement failed with this code. */
async function unless(code: string, run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (error instanceof ClickHouseError && error.code === code) return false;
    throw error;
  }
}
