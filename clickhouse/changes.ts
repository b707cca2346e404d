/**
 * The tables whose rows readers keep in memory, each with the column they are found by; null: all of its rows are one
 * entry. Every write to one of them is announced, so that the rows are read again.
 */
export const CHANGE_KEYS = {
  policies: 'address',
  venue_accounts: 'policy',
  token_accounts: 'address',
  mints: 'address',
  metadata_accounts: 'mint',
  metadata_documents: 'mint',
  pools: 'address',
  curve_configs: 'address',
  protocol_config: 'address',
  origins: 'address',
  models: 'address',
  events: 'mint',
  named_accounts: 'policy',
  policy_transactions: 'policy',
  policy_totals: 'mint',
  account_readings: 'venue_account',
  venue_status: 'venue',
  stream_state: null,
  program_status: 'program',
  prices: 'mint',
  catalogue: null,
  currencies: null,
  dead_letters: null,
  /** Announced only for events whose hour their partition of the log has passed, or may have passed. */
  events_by_slot: null,
  account_hours: null,
  unseen_changes: null,
  brought_changes: null,
  carried_accounts: null,
  stream_holes: null,
  hour_slots: null,
} as const satisfies Record<string, string | null>;

export type ChangedTable = keyof typeof CHANGE_KEYS;

/** Which rows were written, by table. */
export type Changes = Map<ChangedTable, Set<string>>;

/** Stands for keys that are not known, or too many: any row of the table may have changed. */
export const ANY = '*';

const MOST_KEYS = 5_000;

const isTable = (table: string): table is ChangedTable => Object.hasOwn(CHANGE_KEYS, table);

/** Adds the keys of rows that were written to a table; nothing for a table that readers keep no rows of. */
export function noteRows(changes: Changes, table: string, rows: readonly object[]): void {
  if (!isTable(table) || rows.length === 0) return;
  const column = CHANGE_KEYS[table];
  const keys = rows.map((row) => (column === null ? '' : (row as Record<string, unknown>)[column]));
  noteKeys(
    changes,
    table,
    keys.map((key) => (typeof key === 'string' ? key : ANY)),
  );
}

export function noteKeys(changes: Changes, table: ChangedTable, keys: Iterable<string>): void {
  const known = changes.get(table) ?? new Set<string>();
  changes.set(table, known);
  for (const key of keys) {
    if (known.has(ANY)) return;
    if (known.size >= MOST_KEYS || key === ANY) {
      known.clear();
      known.add(ANY);
    } else known.add(key);
  }
}

export function addChanges(to: Changes, from: Changes): void {
  for (const [table, keys] of from) noteKeys(to, table, keys);
}
