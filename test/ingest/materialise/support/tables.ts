import type { Store } from '../../../../clickhouse/client.ts';
import { addedUp, POLICY_SUMS, QUOTE_SUMS } from '../../../../clickhouse/sum-columns.ts';

export type Tables = Record<string, unknown[]>;

/** The rows that readers sum or list, in a fixed order, without columns that say when and by whom they were written. */
export async function readTables(store: Store): Promise<Tables> {
  const read = (table: string, order: string, except: string) =>
    store.query(
      `SELECT * ${except === '' ? '' : `EXCEPT (${except})`} FROM ${table} FINAL ORDER BY ${order}`,
    );
  const totals = (table: string, keys: string, columns: Record<string, 'sum' | 'time'>) =>
    store.query(
      `SELECT ${keys}, ${addedUp(columns)}
       FROM ${table} AS t FINAL GROUP BY ${keys} ORDER BY ${keys}`,
    );
  return {
    events: await read('events', 'slot, signature, position', 'log_partition'),
    bySlot: await read('events_by_slot', 'slot, signature, position', 'log_partition'),
    transactions: await read('transactions', 'signature', ''),
    policyTransactions: await read('policy_transactions', 'policy, slot, signature', ''),
    incomplete: await read('incomplete_by_slot', 'slot, signature', ''),
    policyTotals: await totals('policy_totals', 'mint', POLICY_SUMS),
    quoteDays: await totals('quote_days', 'day, quote_mint', QUOTE_SUMS),
    policies: await read('policies', 'address', ''),
    venueAccounts: await read('venue_accounts', 'address', ''),
    venuePlaces: await read('venue_accounts_by_policy', 'policy, address', ''),
    tokenAccounts: await read('token_accounts', 'address', ''),
    mints: await read('mints', 'address', ''),
    pools: await read('pools', 'address', ''),
    accountHours: await read('account_hours', 'address, hour', ''),
    undatedHours: await read('undated_hours', 'address, slot', ''),
    firstStreamed: await read('first_streamed', 'address, hour', ''),
    unseenChanges: await read('unseen_changes', 'address, to_slot, after_slot', ''),
    carriedAccounts: await read('carried_accounts', 'address, slot, carried', ''),
    broughtChanges: await read('brought_changes', 'address, to_slot, slot', ''),
    hourSlots: await read('hour_slots', 'hour', ''),
    streamHoles: await read('stream_holes', 'to_slot, after_slot', ''),
    policyMarks: await read('policy_marks', 'policy, hwm, profit_swept', ''),
    gaps: await read('gaps', 'from_slot, log_partition', 'log_offset'),
    deadLetters: await read('dead_letters', 'id', 'read_at'),
  };
}

export interface Sums {
  [key: string]: { routed: string; events: string };
}

/** Sum of Routed.amount and count of events by mint, from the facts. */
export async function sumsOfFacts(store: Store): Promise<Sums> {
  return sums(
    store,
    `SELECT mint, toString(sumIf(toUInt128(amount_a), kind = 'Routed')) AS routed, toString(count()) AS events
     FROM events FINAL WHERE mint != '' GROUP BY mint ORDER BY mint`,
  );
}

/** The same from the recomputed totals, as readers add them up. */
export async function sumsOfTotals(store: Store): Promise<Sums> {
  return sums(
    store,
    `SELECT mint, toString(sum(t.routed)) AS routed, toString(sum(t.event_count)) AS events
     FROM policy_totals AS t FINAL GROUP BY mint ORDER BY mint`,
  );
}

async function sums(store: Store, sql: string): Promise<Sums> {
  const rows = await store.query<{ mint: string; routed: string; events: string }>(sql);
  return Object.fromEntries(rows.map(({ mint, ...row }) => [mint, row]));
}
