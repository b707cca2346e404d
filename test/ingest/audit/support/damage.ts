import type { Store } from '../../../../clickhouse/client.ts';
import { deleteRows } from '../../support/delete-rows.ts';

export interface EventAt {
  mint: string;
  slot: string;
  signature: string;
  position: number;
  amount_a: string;
}

/** Ways to read and to damage what a store holds. */
export function damageTo(store: Store) {
  async function one<Row>(sql: string, params = {}): Promise<Row> {
    const [row] = await store.query<Row>(sql, params);
    if (row === undefined) throw new Error(`no row: ${sql}`);
    return row;
  }

  const policies = async () => (await store.query('SELECT 1 FROM policies FINAL WHERE exists')).length;

  /** A Routed event with others of its mint before and behind it. */
  const someRouted = (skip = 3) =>
    one<EventAt>(
      `SELECT mint, slot, signature, position, toString(amount_a) AS amount_a FROM events FINAL
       WHERE kind = 'Routed' AND mint = (SELECT mint FROM events FINAL WHERE kind = 'Routed' GROUP BY mint ORDER BY count() DESC, mint LIMIT 1)
       ORDER BY slot LIMIT 1 OFFSET {skip:UInt32}`,
      { skip },
    );

  /** Writes another version of a row over the newest one. @returns writes the old one again */
  async function overwrite(table: string, where: string, version: string, change: Record<string, unknown>) {
    const row = await one<Record<string, unknown>>(`SELECT * FROM ${table} FINAL WHERE ${where}`);
    const next = (by: bigint) => String(BigInt(row[version] as string) + by);
    await store.insert(table, [{ ...row, [version]: next(1n), ...change }]);
    return () => store.insert(table, [{ ...row, [version]: next(2n) }]);
  }

  const remove = (table: string, { slot, signature, position }: Omit<EventAt, 'amount_a'>) =>
    deleteRows(
      store,
      table,
      'slot = {slot:UInt64} AND signature = {signature:String} AND position = {position:UInt16}',
      { slot, signature, position },
    );

  return { one, policies, someRouted, overwrite, remove };
}
