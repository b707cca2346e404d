import pg from 'pg';
import { QUOTES, rowsOf } from '../reads/data.ts';
import { RANKED } from './ranked.ts';

const SORTS = Object.keys(RANKED);
const TEXT = 'text NOT NULL';

const TABLES: Record<string, Record<string, string>> = {
  policies: {
    ...{
      mint: 'text PRIMARY KEY',
      address: TEXT,
      quote_mint: TEXT,
      authority: TEXT,
      agent: 'text',
      guardian: TEXT,
    },
    ...{ origin: TEXT, mode: TEXT, model_id: 'int', to_lp_bps: 'int', to_bankroll_bps: 'int', risk: 'int' },
    ...{
      locked: 'int',
      paused: 'int',
      fees_claimed: 'numeric',
      profit_swept: 'numeric',
      paid_to_holders: 'numeric',
    },
    ...{ tokens_burned: 'numeric', credit_spent: 'numeric', hwm: 'numeric', created_at: 'bigint' },
    ...{ bankroll: TEXT, quote_escrow: TEXT, base_escrow: TEXT, holder_rewards: TEXT },
    ...Object.fromEntries(SORTS.map((sort) => [`by_${sort}`, 'numeric NOT NULL'])),
  },
  mints: { address: 'text PRIMARY KEY', name: 'text', symbol: 'text', decimals: 'int', supply: 'numeric' },
  token_accounts: { address: 'text PRIMARY KEY', mint: 'text', amount: 'numeric' },
  pools: {
    ...{ base_mint: 'text PRIMARY KEY', quote_mint: TEXT, status: 'int', supply: 'numeric' },
    ...{ virtual_base: 'numeric', virtual_quote: 'numeric' },
  },
  venue_accounts: {
    ...{ address: 'text PRIMARY KEY', policy: TEXT, token_account: TEXT, kind: TEXT, asset_class: 'int' },
    ...{ remote_equity: 'numeric', bridged_out: 'numeric' },
  },
};

const AT_ONCE = 1_000;

/** Makes the Postgres baseline's tables and fills them with the same policies as ours. */
export async function fillPostgres(url: string, policies: number): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await make((sql, values = []) => client.query(sql, values), policies);
  } finally {
    await client.end();
  }
}

async function make(
  run: (sql: string, values?: unknown[]) => Promise<unknown>,
  policies: number,
): Promise<void> {
  for (const [table, columns] of Object.entries(TABLES))
    await run(
      `CREATE TABLE ${table} (${Object.entries(columns)
        .map((column) => column.join(' '))
        .join(', ')})`,
    );
  await run('CREATE TABLE prices (mint text PRIMARY KEY, usd text)');
  for (let start = 0; start < policies; start += AT_ONCE) {
    const rows = new Map<string, Record<string, unknown>[]>();
    for (let at = start; at < Math.min(policies, start + AT_ONCE); at += 1) {
      const of = rowsOf(at);
      const [policy] = of.policies ?? [];
      if (policy === undefined) continue;
      const price = 1 + (at % QUOTES) / 8;
      for (const sort of SORTS)
        policy[`by_${sort.toLowerCase()}`] =
          sort === 'newest' ? at : Math.round(Number(policy.profit_swept) * price);
      for (const [table, all] of Object.entries(of)) rows.set(table, [...(rows.get(table) ?? []), ...all]);
    }
    for (const [table, columns] of Object.entries(TABLES)) {
      const names = Object.keys(columns).join(', ');
      await run(
        `INSERT INTO ${table} (${names}) SELECT ${names} FROM json_populate_recordset(null::${table}, $1)`,
        [JSON.stringify(rows.get(table) ?? [])],
      );
    }
  }
  for (const sort of SORTS) {
    await run(`CREATE INDEX ON policies (by_${sort}, mint)`);
    await run(`CREATE INDEX ON policies (mode, by_${sort}, mint)`);
  }
  await run('CREATE INDEX ON venue_accounts (policy)');
  await run(`INSERT INTO prices SELECT DISTINCT quote_mint, '1' FROM policies`);
  await run('CREATE TABLE counts AS SELECT mode, count(*) AS policies FROM policies GROUP BY mode');
  await run('VACUUM ANALYZE');
}
