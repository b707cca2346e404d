import type { BlockChanges, Chain } from '../../../devnet/chain/chain.ts';
import type { Key, TableName, Tables } from '../../../devnet/program/state/state.ts';

/** Every state that an account ever had, oldest first; null: closed. */
type States<T> = { time: number; value: T | null }[];

/** The ledger's accounts at any moment. */
export interface Past {
  /** The state that the last block with an earlier time than `before`, in unix seconds, had left. */
  at<T extends TableName>(table: T, address: Key, before: number): Tables[T] | null;
  /** The addresses of a table that ever had a state. */
  addresses(table: TableName): Iterable<Key>;
  /** Time of the address's first state; null where it never had one. */
  since(table: TableName, address: Key): number | null;
}

interface Told {
  blocks: number;
  tables: Map<TableName, Map<Key, States<unknown>>>;
}

const known = new WeakMap<Chain, Told>();

export function pastOf(chain: Chain): Past {
  const told = known.get(chain) ?? { blocks: 0, tables: new Map() };
  known.set(chain, told);
  for (const block of chain.changes(told.blocks)) {
    add(told, block);
    told.blocks += 1;
  }
  const states = <T extends TableName>(table: T, address: Key) =>
    (told.tables.get(table)?.get(address) ?? []) as States<Tables[T]>;
  return {
    at: (table, address, before) =>
      states(table, address).findLast(({ time }) => time < before)?.value ?? null,
    addresses: (table) => told.tables.get(table)?.keys() ?? [],
    since: (table, address) => states(table, address)[0]?.time ?? null,
  };
}

function add({ tables }: Told, { blockTime: time, rows }: BlockChanges): void {
  for (const [table, changed] of Object.entries(rows) as [TableName, Map<Key, unknown>][]) {
    const states = tables.get(table) ?? new Map<Key, States<unknown>>();
    tables.set(table, states);
    for (const [address, value] of changed) {
      const all = states.get(address);
      if (all === undefined) states.set(address, [{ time, value }]);
      else all.push({ time, value });
    }
  }
}
