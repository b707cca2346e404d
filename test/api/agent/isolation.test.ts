import { expect, test } from 'vitest';
import type { LivePolicy } from '../../../api/agent/chain/chain.ts';
import { confirmsKnownAgent } from '../../../api/agent/chain/decided.ts';
import { takeTurn } from '../../../api/agent/limits/limits.ts';
import { migratePostgres } from '../../../api/postgres/migrate.ts';
import { openPool } from '../../../api/postgres/pool.ts';
import { awaited, PATIENCE_MS } from '../../support/awaited.ts';
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

test('behind a pooler that pools transactions, with default isolation repeatable read, single queries see it too', async () => {
  const url = await freshPostgresUrl();
  const others = patientPool(url);
  await migratePostgres(others);
  const name = new URL(url).pathname.slice(1);
  await others.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`);
  const db = openPool(url, { connections: 1, connectMs: PATIENCE_MS, statementMs: PATIENCE_MS });
  // As where the pooler gives a query a connection that another client had before.
  await db.query('RESET ALL');
  const waiting = () =>
    others.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
  const attempt = () => db.query<{ wait: number | null }>(`SELECT count_attempt('s', 1) AS wait`);
  const counted = await others.transaction(async (tx) => {
    const now = await takeTurn(tx, 's');
    const asked = attempt();
    await awaited(async () => expect(await waiting()).toHaveLength(1));
    await tx.query(`INSERT INTO attempts (subject, at) VALUES ('s', $1::timestamptz)`, [now]);
    return { asked };
  });
  expect(await counted.asked).toEqual([{ wait: expect.any(Number) }]);

  await db.query('RESET ALL');
  const policy = {
    mint: 'm',
    slot: 7n,
    agent: 'a',
    mostSlot: null,
    account: { mode: 'Agent' },
  } as LivePolicy;
  await others.query(`INSERT INTO decided_reads (mint, slot, shown, agent) VALUES ('m', 5, 5, 'a')`);
  const confirmed = await others.transaction(async (tx) => {
    await tx.query(`UPDATE decided_reads SET shown = 6 WHERE mint = 'm'`);
    const asked = confirmsKnownAgent(db, policy);
    await awaited(async () => expect(await waiting()).toHaveLength(1));
    return { asked };
  });
  expect(await confirmed.asked).toBe(true);
  await Promise.all([db.close(), others.close()]);
});
