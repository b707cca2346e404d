import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';

/** The URL of a database that no other test uses, on the test run's engine. */
export function freshDatabaseUrl(): string {
  return `${inject('clickhouseUrl')}/test_${randomBytes(8).toString('hex')}`;
}

/** The URL by which another process reaches the same database. */
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
