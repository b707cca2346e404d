import { expect, test } from 'vitest';
import { freshDatabase } from '../support/database.ts';

test('equal inserts both count, also in a table that deduplicates inserted blocks', async () => {
  const store = await freshDatabase();
  // A replicated table has this setting by itself.
  for (const table of ['hour_writes', 'carried_accounts', 'carried_writes']) {
    await store.command(`ALTER TABLE ${table} MODIFY SETTING non_replicated_deduplication_window = 100`);
  }
  const late = { address: 'a', slot: '7', carried: 0 };
  for (let at = 0; at < 2; at += 1) {
    await store.insert('hour_writes', [{ hour: 5, written: 1 }]);
    await store.insert('carried_accounts', [late]);
  }
  const written = (table: string) => store.query(`SELECT toString(sum(written)) AS written FROM ${table}`);
  expect(await written('hour_writes')).toEqual([{ written: '2' }]);
  // A view fills it.
  expect(await written('carried_writes')).toEqual([{ written: '2' }]);
  await store.close();
});
