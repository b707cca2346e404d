import type { Store } from '../../client.ts';

export interface BacklogRow {
  policies: number;
  /** Policies whose quote escrow holds a balance. */
  backlog: number;
  /** Policies whose quote escrow was not read yet. */
  unread: number;
  /** Time of the oldest state of all escrows, since empty ones count too; null where one is not read or has no time. */
  oldest_time: string | null;
}

/** How many policies have fees in their quote escrow that were not routed. */
export async function feeBacklog(store: Store): Promise<BacklogRow> {
  const [row] = await store.query<BacklogRow>(
    `SELECT toUInt32(count()) AS policies,
       toUInt32(countIf(t.amount > 0)) AS backlog,
       toUInt32(countIf(NOT t.found)) AS unread,
       if(countIf(t.block_time IS NULL) > 0, NULL, min(t.block_time)) AS oldest_time
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
