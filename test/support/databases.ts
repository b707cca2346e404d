import { inject } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';
import { openDatabase } from '../../clickhouse/serving/serving.ts';
import { freshDatabaseUrl } from './database.ts';

export interface Databases {
  /** URL of the home database. */
  url: string;
  home: Store;
  /** Opens another database on the same engine, as the product does. */
  open(name: string): Promise<Store>;
  /** The same with the current schema. */
  openMigrated(name: string): Promise<Store>;
  /** Drops the home database and all whose names begin with its name. */
  close(): Promise<void>;
}

/** Makes a home database with the current schema, and opens others whose names begin with its name. */
export async function openDatabases(): Promise<Databases> {
  const url = freshDatabaseUrl();
  const home = await openServer(url, null);
  await home.command(inject('schemaSql'));
  const opened: Store[] = [];
  const open = async (name: string) => {
    const store = await openDatabase(url, name, null);
    opened.push(store);
    return { ...store, close: async () => {} };
  };
  return {
    url,
    home,
    open,
    openMigrated: async (name) => {
      const store = await open(name);
      await store.command(inject('schemaSql'));
      return store;
    },
    close: async () => {
      const named = await home.query<{ name: string }>(
        'SELECT name FROM system.databases WHERE startsWith(name, {home:String}) AND name != {home:String}',
        { home: home.database },
      );
      await Promise.all(opened.map((store) => store.close()));
      for (const { name } of named) await home.command(`DROP DATABASE ${name} SYNC`);
      await home.command(`DROP DATABASE ${home.database} SYNC`);
      await home.close();
    },
  };
}
