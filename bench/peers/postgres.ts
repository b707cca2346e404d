import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import pg from 'pg';
import { RANKED } from './ranked.ts';

/**
 * Baseline of Postgres: the latest state in one table a kind with primary keys, behind Koa with a pool of connections
 * and prepared statements. Each sort of rankings has an indexed column, which the writer keeps up to date.
 */
const pool = new pg.Pool({ connectionString: process.argv[2] as string, max: 16 });

const COIN = `SELECT p.*, m.name, m.symbol, m.decimals, l.supply, l.virtual_base, l.virtual_quote, l.status AS pool_status,
    (SELECT json_agg(json_build_object('address', t.address, 'amount', t.amount::text)) FROM token_accounts t
     WHERE t.address IN (p.bankroll, p.quote_escrow, p.base_escrow, p.holder_rewards)) AS balances,
    (SELECT json_agg(v) FROM venue_accounts v WHERE v.policy = p.address) AS venues, r.usd AS price
  FROM policies p LEFT JOIN mints m ON m.address = p.mint LEFT JOIN pools l ON l.base_mint = p.mint
  LEFT JOIN prices r ON r.mint = p.quote_mint
  WHERE p.mint = $1`;

/** The statement of a ranking page. Its order is that of the indexes; absent sort keys are zeros here. */
const page = (sort: string, order: string, byMode: boolean) => `
  SELECT p.*, m.name, m.symbol, b.amount AS balance, r.usd
  FROM (SELECT * FROM policies ${byMode ? 'WHERE mode = $3' : ''}
        ORDER BY by_${sort} ${order}, mint ${order} LIMIT $1 OFFSET $2) p
  LEFT JOIN mints m ON m.address = p.mint LEFT JOIN token_accounts b ON b.address = p.bankroll
  LEFT JOIN prices r ON r.mint = p.quote_mint
  ORDER BY by_${sort} ${order}, p.mint ${order}`;

const app = new Koa();
app.use(async (ctx) => {
  ctx.type = 'application/json';
  const mint = /^\/coins\/([^/]+)$/.exec(ctx.path)?.[1];
  if (mint !== undefined) {
    const { rows } = await pool.query({ name: 'coin', text: COIN, values: [mint] });
    ctx.status = rows.length === 0 ? 404 : 200;
    ctx.body = JSON.stringify(rows[0] ?? {}, null, 2);
    return;
  }
  const query = ctx.query as Record<string, string>;
  const sort = Object.hasOwn(RANKED, query.sort ?? '') ? (query.sort as string) : 'marketCap';
  const order = query.order === 'asc' ? 'asc' : 'desc';
  const { mode, limit = '50', offset = '0' } = query;
  const values = [Number(limit), Number(offset), ...(mode === undefined ? [] : [mode])];
  const [items, counted] = await Promise.all([
    pool.query({
      name: `${sort} ${order} ${mode !== undefined}`,
      text: page(sort, order, mode !== undefined),
      values,
    }),
    pool.query({
      name: `count ${mode !== undefined}`,
      text: `SELECT sum(policies)::int AS total FROM counts ${mode === undefined ? '' : 'WHERE mode = $1'}`,
      values: mode === undefined ? [] : [mode],
    }),
  ]);
  ctx.body = JSON.stringify(
    { sort, order, limit, offset, total: counted.rows[0]?.total, items: items.rows },
    null,
    2,
  );
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
