import type { Params, Store } from '../../../clickhouse/client.ts';
import { awaited } from '../../support/awaited.ts';

/**
 * Deletes rows, and resolves once they are gone. An idle table looks for work every ten seconds, and a delete waits for
 * two or three such looks: starting merges has the table look at once.
 */
export async function deleteRows(
  store: Store,
  table: string,
  where: string,
  params: Params = {},
): Promise<void> {
  await store.command(`DELETE FROM ${table} WHERE ${where} SETTINGS lightweight_deletes_sync = 0`, params);
  await awaited(async () => {
    await store.command(`SYSTEM START MERGES ${table}`);
    const waiting = await store.query(
      'SELECT 1 FROM system.mutations WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done',
      { table },
    );
    if (waiting.length > 0) throw new Error(`rows of ${table} are not deleted yet`);
  });
}
