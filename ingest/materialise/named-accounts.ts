import type { NamedAccountRow } from '../../clickhouse/progress-tables.ts';
import type { EventRow } from '../../clickhouse/tables.ts';
import { createLru } from '../../runtime/lru.ts';
import { registeredIn } from '../../schemas/program/stored-summary.ts';

export interface NamedAccounts {
  /** Rows of the accounts that these events name and this process has not written yet. */
  rowsOf(events: readonly EventRow[]): NamedAccountRow[];
  /** These rows are stored, and readers were told of them. */
  written(rows: readonly NamedAccountRow[]): void;
}

const MOST_POLICIES = 200_000;

/**
 * The policies and venue accounts that events name: a policy is named by each of its events and written once, a venue
 * account by the one that registers it.
 */
export function createNamedAccounts(): NamedAccounts {
  const known = createLru<true>(MOST_POLICIES);
  return {
    rowsOf: (events) => {
      const rows: NamedAccountRow[] = [];
      const here = new Set<string>();
      for (const { policy, mint, kind, summary } of events) {
        if (policy === '' || kind === '') continue;
        if (kind === 'VenueRegistered')
          rows.push(...registeredIn(summary).map((token_account) => ({ policy, token_account, mint })));
        if (here.has(policy) || known.has(policy)) continue;
        here.add(policy);
        rows.push({ policy, token_account: '', mint });
      }
      return rows;
    },
    written: (rows) => {
      for (const { policy, token_account } of rows) if (token_account === '') known.set(policy, true);
    },
  };
}
