import type { Store } from '../../client.ts';

export interface BacklogRow {
  policies: number;
  /** Policies whose quote escrow holds a balance. */
  backlog: number;
  /** Policies whose quote escrow was not read yet. */
  unread: number;
  /** Of the escrows that hold a balance, the oldest reading; null where one of them has no time. */
  oldest_time: string | null;
}

/** How many policies have fees in their quote escrow that were not routed. */
export async function feeBacklog(store: Store): Promise<BacklogRow> {
  const [row] = await store.query<BacklogRow>(
    `SELECT toUInt32(count()) AS policies,
       toUInt32(countIf(t.amount > 0)) AS backlog,
       toUInt32(countIf(NOT t.found)) AS unread,
       if(countIf(t.amount > 0 AND t.block_time IS NULL) > 0, NULL, minIf(t.block_time, t.amount > 0)) AS oldest_time
     FROM (SELECT quote_escrow FROM policies FINAL WHERE exists = 1) AS p
     LEFT JOIN (
       SELECT address, if(exists = 1, amount, 0) AS amount, block_time, toUInt8(1) AS found FROM token_accounts FINAL
     ) AS t ON t.address = p.quote_escrow`,
    {},
  );
  if (row === undefined) throw new Error('an aggregate without keys gave no row');
  return row;
}

/** How many records are kept as dead letters; one that a better decoder has read since does not count. */
export async function deadLetterCount(store: Store): Promise<string> {
  const [row] = await store.query<{ count: string }>(
    `SELECT toString(count()) AS count
     FROM (SELECT id, max(read_at) AS found FROM dead_letters GROUP BY id) AS d
     LEFT JOIN (SELECT id, max(read_at) AS resolved FROM resolved_letters GROUP BY id) AS r ON r.id = d.id
     WHERE d.found > r.resolved`,
    {},
  );
  return row?.count ?? '0';
}
