import { createHash } from 'node:crypto';
import type { Store } from '../../../clickhouse/client.ts';

/** Of a version behind this one. */
export const NEWER = { name: '9999_of_tomorrow.sql', sql: 'SELECT 1' };

/** As `migrate` of that version does it. */
export async function bringFurther(store: Store): Promise<void> {
  const checksum = createHash('sha256').update(NEWER.sql).digest('hex');
  await store.insert('migrations', [{ name: NEWER.name, checksum }]);
}

/** What whoever writes then ends with. */
export const BROUGHT_FURTHER = `the database has migration ${NEWER.name}, which this version does not know`;
