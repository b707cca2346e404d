import { describe, expect, test } from 'vitest';
import { exposuresOf } from '../../../api/agent/options/exposures.ts';
import { readPosts } from '../../../api/agent/posts/feed.ts';
import { migratePostgres } from '../../../api/postgres/migrate.ts';
import { awaited } from '../../support/awaited.ts';
import { freshPostgresUrl } from '../../support/servers-of-run.ts';
import { startAgentApi } from './support/agent-api.ts';
import { patientPool } from './support/patient-db.ts';
import { freshDb } from './support/postgres.ts';
import { POST } from './support/refused.ts';
import { useAgentStage } from './support/stage.ts';

test('rows skipped by an offset are not formatted, only those of the page', async () => {
  const { db, close } = await freshDb('PGlite');
  // Counts how many times a statement formats a time.
  await db.transaction((tx) =>
    tx.run(`CREATE SEQUENCE told;
      CREATE FUNCTION public.to_char(at timestamp, form text) RETURNS text LANGUAGE sql VOLATILE AS
        $$ SELECT pg_catalog.to_char(at, form) FROM nextval('told') $$;
      SET search_path TO public, pg_catalog;
      INSERT INTO posts (mint, agent, model, kind, text, created_at)
        SELECT 'm', 'a', 'null', 'idle', n::text, now() FROM generate_series(1, 500) AS n;
      INSERT INTO exposures (mint, agent, instrument, underlying, option_type, strike, expiry, direction, size, reason,
          status, opened_at, open_quote)
        SELECT 'm', 'a', n::text, 'ETH', 'C', '1', '', 'long', '1', n::text, 'held', now(), 'null'
        FROM generate_series(1, 500) AS n;`),
  );
  const toldBy = async (work: () => Promise<unknown>) => {
    await db.query(`SELECT setval('told', 1, false)`);
    await work();
    const [row] = await db.query<{ n: string }>(
      'SELECT (CASE WHEN is_called THEN last_value ELSE 0 END)::text AS n FROM told',
    );
    return Number(row?.n);
  };
  const posts = await toldBy(async () => {
    const page = await readPosts(db, 'm', 10, 300);
    expect(page).toMatchObject({ total: 500 });
    expect(page.posts.map(({ text }) => text)).toEqual(Array.from({ length: 10 }, (_, n) => `${200 - n}`));
  });
  expect(posts).toBe(10);
  const exposures = await toldBy(async () => {
    const page = await exposuresOf(db, { mint: 'm', agent: 'a' }, 'all', { limit: 10, offset: 300 });
    expect(page.hasMore).toBe(true);
    expect(page.items.map(({ reason }) => reason)).toEqual(
      Array.from({ length: 10 }, (_, n) => `${200 - n}`),
    );
  });
  // Each row has two times, one of them null; one more row shows whether there are further pages.
  expect(exposures).toBe(22);
  await close();
});

test('a page of posts and its total are of one moment, even if posts are added between statements', async () => {
  const { db, close } = await freshDb('PGlite');
  const post = () =>
    db.query(
      `INSERT INTO posts (mint, agent, model, kind, text, created_at)
       SELECT mint, 'a', 'null', 'idle', 'x', now() FROM unnest(ARRAY['m', 'other']) AS mint`,
    );
  await post();
  await post();
  /** After each statement an agent posts. */
  const readers: typeof db.readers = {
    query: async (sql, params) => {
      const rows = await db.readers.query(sql, params);
      await post();
      return rows as never;
    },
  };
  const first = await readPosts({ readers }, 'm', 10, 0);
  expect([first.posts.length, first.total]).toEqual([2, 2]);
  const beyond = await readPosts({ readers }, 'm', 10, 50);
  expect([beyond.posts, beyond.total]).toEqual([[], 3]);
  expect(await readPosts({ readers }, 'nobody', 10, 0)).toEqual({ total: 0, posts: [] });
  await close();
});

describe('while reads of feed pages hang', () => {
  const stage = useAgentStage('PGlite');

  test('an agent can still post, since readers have connections of their own', async () => {
    const url = await freshPostgresUrl();
    const [db, others] = [patientPool(url), patientPool(url)];
    await migratePostgres(db);
    const api = await startAgentApi({ db, rpc: stage.rpc, venueUrl: null });
    const { mint, agent } = stage.policy();
    const token = await api.login(mint, agent);
    await others.transaction((tx) =>
      tx.run(`ALTER TABLE posts RENAME TO stored_posts;
        CREATE FUNCTION is_let(mint text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
          IF mint = 'held' THEN
            PERFORM pg_advisory_xact_lock_shared(1);
          END IF;
          RETURN true;
        END $$;
        CREATE VIEW posts AS SELECT * FROM stored_posts WHERE is_let(mint);
        INSERT INTO stored_posts (mint, agent, model, kind, text, created_at)
          VALUES ('held', 'a', 'null', 'idle', 'x', now());`),
    );
    let reads: Promise<unknown>[] = [];
    await others.transaction(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock(1)');
      reads = Array.from({ length: 20 }, () => readPosts(db, 'held', 10, 0).catch(() => undefined));
      await awaited(async () => {
        const [row] = await tx.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM pg_locks JOIN pg_database ON pg_database.oid = database
           WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`,
        );
        expect(row?.n).toBeGreaterThan(0);
      });
      const { status, text } = await api.call('POST', 'posts', POST, token);
      expect(status, text).toBe(201);
    });
    await Promise.all(reads);
    await api.close();
    await Promise.all([db.close(), others.close()]);
  });
});
