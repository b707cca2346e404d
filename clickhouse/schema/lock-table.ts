import { ClickHouseError } from '@clickhouse/client';
import type { Store } from '../client.ts';
import { UNKNOWN_TABLE } from './unknown-table.ts';

const TABLE_ALREADY_EXISTS = '57';

/** A table that is a lock: its uuid, and the last sign of life of its holder. */
export interface Held {
  uuid: string;
  sign: string;
}

export interface LockTable {
  /** Creates the table; false where it exists. */
  take(holder: string): Promise<boolean>;
  /** Null where nobody holds it. */
  held(): Promise<Held | null>;
  /** Shows that the holder lives. Where another one holds the lock by now, this only prolongs that one's hold. */
  beat(sign: string): Promise<void>;
  /** Takes the lock from a holder without a sign of life for so long, by the database's clock. */
  removeStale(staleSeconds: number): Promise<void>;
  /** Drops the table where `holder` holds it. */
  release(holder: string): Promise<void>;
}

/** A lock of all processes on a database. Making a table is atomic, on a cluster by the order of its DDL queue. */
export function lockTable(store: Store, onCluster: string, name: string): LockTable {
  const held = async (): Promise<Held | null> => {
    const [row] = await store.query<Held>(
      `SELECT toString(uuid) AS uuid, comment AS sign FROM system.tables
       WHERE database = currentDatabase() AND name = {name:String}`,
      { name },
    );
    return row ?? null;
  };
  return {
    held,
    take: (holder) => {
      const sql = `CREATE TABLE ${name} ${onCluster} (nothing UInt8) ENGINE = Memory COMMENT '${holder}'`;
      return unless(TABLE_ALREADY_EXISTS, () => store.command(sql));
    },
    beat: (sign) => {
      // Does not wait: a node that is away must not keep the sign from the others.
      const settings = onCluster === '' ? '' : 'SETTINGS distributed_ddl_task_timeout = 0';
      return store.command(`ALTER TABLE ${name} ${onCluster} MODIFY COMMENT '${sign}' ${settings}`);
    },
    // Of several processes that see a dead holder one renames its table away: the new name is made of the table's uuid.
    removeStale: async (staleSeconds) => {
      const [dead] = await store.query<{ uuid: string }>(
        `SELECT toString(uuid) AS uuid FROM system.tables
         WHERE database = currentDatabase() AND name = {name:String}
           AND metadata_modification_time < now() - {staleSeconds:UInt32}`,
        { name, staleSeconds },
      );
      if (dead === undefined) return;
      const aside = `${name}_of_the_dead_${dead.uuid.replaceAll('-', '')}`;
      const sql = `RENAME TABLE ${name} TO ${aside} ${onCluster}`;
      await unless(TABLE_ALREADY_EXISTS, () => unless(UNKNOWN_TABLE, () => store.command(sql)));
    },
    release: async (holder) => {
      if ((await held())?.sign.startsWith(holder))
        await store.command(`DROP TABLE IF EXISTS ${name} ${onCluster} SYNC`);
    },
  };
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
