import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';

/** The address of a database that nobody else uses, on the engine of the test run. */
export function freshDatabaseUrl(): string {
  return `${inject('clickhouseUrl')}/test_${randomBytes(8).toString('hex')}`;
}

/** The address under which another process has the same database. */
export const urlOf = (store: Store): string => `${inject('clickhouseUrl')}/${store.database}`;

/** A new database without tables, over HTTP; it is dropped when the store is closed. */
export async function emptyDatabase(): Promise<Store> {
  const store = await openServer(freshDatabaseUrl(), null);
  return {
    ...store,
    close: async () => {
      await store.command(`DROP DATABASE ${store.database} SYNC`);
      await store.close();
    },
  };
}

/** A new database with the current schema, over HTTP; it is dropped when the store is closed. */
export async function freshDatabase(): Promise<Store> {
  const store = await emptyDatabase();
  await store.command(inject('schemaSql'));
  return store;
}
