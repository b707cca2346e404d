import { expect, test } from 'vitest';
import { databaseTime } from '../../../api/agent/limits/limits.ts';
import { openPool } from '../../../api/postgres/pool.ts';
import { PATIENCE_MS } from '../../support/awaited.ts';
import { freshPostgresUrl } from '../../support/servers-of-run.ts';
import { patientPool } from './support/patient-db.ts';

/** A pool of one connection to a database that sets these by default. */
async function withDefaults(settings: Record<string, string>) {
  const url = await freshPostgresUrl();
  const first = patientPool(url);
  const name = new URL(url).pathname.slice(1);
  for (const [setting, value] of Object.entries(settings))
    await first.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
  await first.close();
  return openPool(url, { connections: 1, connectMs: PATIENCE_MS, statementMs: PATIENCE_MS });
}

test.each([
  ['off', 'local'],
  ['local', 'local'],
  ['remote_write', 'remote_write'],
  ['on', 'on'],
  ['remote_apply', 'remote_apply'],
])(
  'what is answered as stored is on disk: with synchronous_commit %s by default, transactions have %s',
  async (set, expected) => {
    const db = await withDefaults({ synchronous_commit: set });
    const ask = `SELECT current_setting('synchronous_commit') AS is`;
    expect(await db.query(ask)).toEqual([{ is: expected }]);
    // As where a pooler gives a transaction a connection that another client had before.
    await db.query('RESET ALL');
    expect(await db.transaction((tx) => tx.query(ask))).toEqual([{ is: expected }]);
    await db.close();
  },
);

/** An abbreviation names several zones, and which one is read is a setting: IST India's or Israel's, for one. */
test.each([
  ['SQL, DMY', 'Asia/Kolkata'],
  ['Postgres, MDY', 'Asia/Shanghai'],
  ['German', 'America/Havana'],
  ['ISO, MDY', 'America/New_York'],
])(
  'times are read in one form that every server reads alike, with DateStyle %s and TimeZone %s',
  async (style, zone) => {
    const db = await withDefaults({ DateStyle: style, TimeZone: zone });
    const form = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$/;
    expect(await databaseTime(db)).toMatch(form);
    // As where a pooler gives a transaction a connection that another client had before.
    await db.query('RESET ALL');
    expect(await db.transaction(databaseTime)).toMatch(form);
    await db.close();
  },
);
