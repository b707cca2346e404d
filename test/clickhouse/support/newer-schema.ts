import { createHash } from 'node:crypto';
import type { Store } from '../../../clickhouse/client.ts';

/** A migration of a later version than this one. */
export const NEWER = { name: '9999_of_tomorrow.sql', sql: 'SELECT 1' };

/** Records that migration, as `migrate` of that version does. */
export async function bringFurther(store: Store): Promise<void> {
  const checksum = createHash('sha256').update(NEWER.sql).digest('hex');
  await store.insert('migrations', [{ name: NEWER.name, checksum }]);
}

/** The sentence with which a writing process then ends. */
export const BROUGHT_FURTHER = `the database has migration ${NEWER.name}, which this version does not know`;
