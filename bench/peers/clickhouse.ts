import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { openEmbedded } from '../../clickhouse/client.ts';
import { RANKED } from './ranked.ts';

/**
 * Baseline of ClickHouse alone: the same tables behind Koa, one statement an answer, with bound parameters. The joined
 * tables are narrowed to the policy's keys first, so that each join is a lookup by primary key.
 */
const store = await openEmbedded(process.argv[2] as string);

const COIN = `WITH p AS (
    SELECT * FROM policies FINAL WHERE exists = 1 AND address = (
      SELECT any(address) FROM policies WHERE mint = {mint:String}))
  SELECT p.*, m.name AS name, m.symbol AS symbol, m.decimals AS decimals,
    l.supply AS supply, l.virtual_base AS virtual_base, l.virtual_quote AS virtual_quote, l.status AS pool_status,
    (SELECT groupArray((address, amount)) FROM token_accounts FINAL
     WHERE address IN (SELECT arrayJoin([bankroll, quote_escrow, base_escrow, holder_rewards]) FROM p)) AS balances,
    (SELECT groupArray((token_account, kind, asset_class, remote_equity)) FROM venue_accounts FINAL
     WHERE address IN (SELECT v.address FROM venue_accounts_by_policy AS v WHERE v.policy IN (SELECT address FROM p))
    ) AS venues,
    (SELECT any(usd) FROM prices FINAL WHERE mint = (SELECT any(quote_mint) FROM p)) AS price
  FROM p
  LEFT JOIN (SELECT * FROM mints FINAL WHERE address = {mint:String}) AS m ON m.address = p.mint
  LEFT JOIN (SELECT * FROM pools FINAL WHERE base_mint = {mint:String}) AS l ON l.base_mint = p.mint`;

const app = new Koa();
app.use(async (ctx) => {
  const mint = /^\/coins\/([^/]+)$/.exec(ctx.path)?.[1];
  if (mint !== undefined) {
    const [row] = await store.query(COIN, { mint });
    ctx.status = row === undefined ? 404 : 200;
    ctx.body = JSON.stringify(row ?? {}, null, 2);
    return;
  }
  const {
    sort = 'marketCap',
    order = 'desc',
    mode = '',
    limit = '50',
    offset = '0',
  } = ctx.query as Record<string, string>;
  const by = RANKED[sort as keyof typeof RANKED];
  const items = await store.query(
    `SELECT p.*, m.name AS name, m.symbol AS symbol, b.amount AS balance, t.routed AS fees, count() OVER () AS total,
       toFloat64OrNull(r.usd) AS usd
     FROM (SELECT * FROM policies FINAL WHERE exists = 1 ${mode === '' ? '' : 'AND mode = {mode:String}'}) AS p
     LEFT JOIN (SELECT address, name, symbol FROM mints FINAL) AS m ON m.address = p.mint
     LEFT JOIN (SELECT address, amount FROM token_accounts FINAL) AS b ON b.address = p.bankroll
     LEFT JOIN (SELECT mint, toFloat64(sum(x.routed)) AS routed FROM policy_totals AS x FINAL GROUP BY mint) AS t ON t.mint = p.mint
     LEFT JOIN (SELECT mint, any(usd) AS usd FROM prices FINAL GROUP BY mint) AS r ON r.mint = p.quote_mint
     LEFT JOIN (SELECT base_mint, any(virtual_quote) AS cap FROM pools FINAL GROUP BY base_mint) AS l ON l.base_mint = p.mint
     ORDER BY ${by} ${order === 'asc' ? 'ASC' : 'DESC'}, p.mint
     LIMIT {limit:UInt32} OFFSET {offset:UInt32}`,
    { mode, limit: Number(limit), offset: Number(offset) },
  );
  ctx.type = 'application/json';
  ctx.body = JSON.stringify({ sort, order, limit, offset, items }, null, 2);
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
