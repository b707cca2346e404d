import { ANY, type ChangedTable, type Changes } from '../../../../clickhouse/changes.ts';
import type { Store } from '../../../../clickhouse/client.ts';
import type { NamedAccountRow } from '../../../../clickhouse/progress-tables.ts';
import { standingNames, unreadNames } from '../../../../clickhouse/queries/progress/unread-accounts.ts';
import { changedKeys } from './changed.ts';

/** How many policies and venue accounts that history names have not been read yet. */
export interface UnreadNames {
  count: number;
}

/** By policy, including names whose events may all have been struck or taken back. */
type Names = ReadonlyMap<string, readonly NamedAccountRow[]>;

export const NO_UNREAD_NAMES: UnreadNames = { count: 0 };

const namesOf = new WeakMap<UnreadNames, Names>();

export const loadUnreadNames = async (store: Store): Promise<UnreadNames> =>
  counted(store, byPolicy(await unreadNames(store, null)));

/** Reading this many by their keys takes as long as reading all. */
const MOST_POLICIES = 2_000;

/**
 * Once read, a policy or venue account stays read, and a change to either is known by its policy: only names that came
 * since, and those that were unread, can differ.
 */
export async function refreshUnreadNames(
  store: Store,
  before: UnreadNames,
  changes: Changes,
): Promise<UnreadNames> {
  const known = namesOf.get(before);
  const named = changedKeys(changes, 'named_accounts');
  if (known === undefined || named === null) return loadUnreadNames(store);
  const maybeRead = [...known.keys()].filter(
    (policy) => isChanged(changes, 'policies', policy) || isChanged(changes, 'venue_accounts', policy),
  );
  const mayStandOtherwise = [...known.values()].flat().some(({ mint }) => isChanged(changes, 'events', mint));
  const policies = [...new Set([...named, ...maybeRead])];
  if (policies.length > MOST_POLICIES) return loadUnreadNames(store);
  if (policies.length === 0) return mayStandOtherwise ? counted(store, known) : before;
  const names = new Map(known);
  for (const policy of policies) names.delete(policy);
  for (const [policy, rows] of byPolicy(await unreadNames(store, policies))) names.set(policy, rows);
  return counted(store, names);
}

const byPolicy = (rows: readonly NamedAccountRow[]): Names => Map.groupBy(rows, ({ policy }) => policy);

function isChanged(changes: Changes, table: ChangedTable, key: string): boolean {
  const keys = changes.get(table);
  return keys !== undefined && (keys.has(key) || keys.has(ANY));
}

async function counted(store: Store, names: Names): Promise<UnreadNames> {
  const { length } = await standingNames(store, [...names.values()].flat());
  const unread = { count: length };
  namesOf.set(unread, names);
  return unread;
}
