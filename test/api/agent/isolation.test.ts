import { expect, test } from 'vitest';
import { takeTurn } from '../../../api/agent/limits/limits.ts';
import { migratePostgres } from '../../../api/postgres/migrate.ts';
import { awaited } from '../../support/awaited.ts';
import { freshPostgresUrl } from '../../support/servers-of-run.ts';
import { patientPool } from './support/patient-db.ts';

test.each(['repeatable read', 'serializable'])(
  'a transaction that waited for its turn sees what was written before it, with default isolation %s',
  async (level) => {
    const url = await freshPostgresUrl();
    const first = patientPool(url);
    await migratePostgres(first);
    const name = new URL(url).pathname.slice(1);
    await first.query(`ALTER DATABASE ${name} SET default_transaction_isolation = '${level}'`);
    await first.close();

    const db = patientPool(url);
    const waiting = () =>
      db.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`,
      );
    const attempts = `SELECT count(*)::int AS n FROM attempts WHERE subject = 's'`;
    const later = await db.transaction(async (tx) => {
      const now = await takeTurn(tx, 's');
      const counted = db.query<{ wait: number | null }>(`SELECT count_attempt('s', 1) AS wait`);
      const seen = db.transaction(async (other) => {
        await takeTurn(other, 's');
        const rows = await other.query<{ n: number }>(attempts);
        await other.query(`INSERT INTO attempts (subject, at) VALUES ('t', clock_timestamp())`);
        return rows;
      });
      await awaited(async () => expect(await waiting()).toHaveLength(2));
      await tx.query(`INSERT INTO attempts (subject, at) VALUES ('s', $1::timestamptz)`, [now]);
      return { counted, seen };
    });
    expect(await later.counted).toEqual([{ wait: expect.any(Number) }]);
    expect(await later.seen).toEqual([{ n: 1 }]);
    await db.close();
  },
);
