import type { Store } from '../../../clickhouse/client.ts';
import { createDerived } from '../derived-events.ts';
import { createDecided } from '../disputes/decided-transactions.ts';
import { createResolved } from '../letters/resolved-letters.ts';
import { createNamedAccounts } from '../named-accounts.ts';
import type { Progress } from '../progress.ts';
import { createSums } from '../rollups/live.ts';
import type { Recompute } from '../rollups/recompute.ts';
import { createStates } from '../states.ts';
import { createEventTimes } from '../times/event-times.ts';
import { createUntoldChanges } from './untold-changes.ts';

export type Memory = ReturnType<typeof createMemory>;

/**
 * What a process remembers of what stands in the database, its own writes among it. All of it is forgotten at once where
 * a place is found to be another: a database that was restored, or lost power, lacks what stood there.
 * @param coalesced the same store, where inserts of partitions go together
 */
export const createMemory = (
  store: Store,
  coalesced: Store,
  recompute: (one: Recompute) => Promise<void>,
) => ({
  /** Where partitions are, by topic and number. */
  known: new Map<string, Progress>(),
  untold: createUntoldChanges(),
  /** Those of them that the database is asked for once more: something failed since. */
  doubted: new Set<string>(),
  /** How often something did. */
  failures: 0,
  writeSums: createSums(store, recompute),
  settleDerived: createDerived(store),
  decide: createDecided(store),
  timesOf: createEventTimes(store),
  writeStates: createStates(coalesced),
  named: createNamedAccounts(),
  resolvedBy: createResolved(coalesced),
});
