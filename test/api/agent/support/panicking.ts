import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { openEmbedded } from '../../../../api/postgres/embedded.ts';
import type { Queries } from '../../../../api/postgres/port.ts';

/**
 * Reports what an embedded engine answers while its log cannot be written to, as on a full disk, and after that. A
 * process of its own, since it may never end.
 */
const directory = process.argv[2] as string;
const db = await openEmbedded(directory, 0);
const said: string[] = [];
const ask = async (work: () => Promise<unknown>) => {
  said.push(await work().then((rows) => JSON.stringify(rows), String));
};
const kept = () => ask(() => db.query('SELECT a FROM kept ORDER BY a'));
const insert = (a: number) => (on: Queries) => on.query(`INSERT INTO kept VALUES (${a}) RETURNING a`);

await db.query('CREATE TABLE kept (a int)');
for (const a of [1, 3]) {
  await ask(() => db.transaction(insert(a)));
  const [log] = await db.query<{ next: string }>(
    `SELECT pg_walfile_name(pg_current_wal_insert_lsn() + 16777216) AS next`,
  );
  const next = path.join(directory, 'pg_wal', log?.next as string);
  rmSync(next, { force: true });
  mkdirSync(next);
  await db.query('SELECT pg_switch_wal()');
  await ask(() => (a === 1 ? insert(2)(db) : db.transaction(insert(4))));
  await kept();
  rmdirSync(next);
  await kept();
}
await db.close();
process.stdout.write(JSON.stringify(said));
process.exit(0);
