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
import { createUnannouncedChanges } from './unannounced-changes.ts';

export type Memory = ReturnType<typeof createMemory>;

/**
 * What a process remembers of the database, its own writes among it. All of it is forgotten at once where a partition
 * is found to stand elsewhere than remembered: a database that was restored, or lost power, lacks rows that it had.
 * @param coalesced the same store, with the inserts of several partitions put together
 */
export const createMemory = (
  store: Store,
  coalesced: Store,
  recompute: (one: Recompute) => Promise<void>,
) => ({
  /** Where each partition stands, by `topic/partition`. */
  known: new Map<string, Progress>(),
  unannounced: createUnannouncedChanges(),
  /** The partitions in `known` that the database has to be asked for once more, since a batch failed. */
  unverified: new Set<string>(),
  /** How many batches failed. */
  failures: 0,
  writeSums: createSums(store, recompute),
  settleDerived: createDerived(store),
  decide: createDecided(store),
  timesOf: createEventTimes(store),
  writeStates: createStates(coalesced),
  named: createNamedAccounts(),
  resolvedBy: createResolved(coalesced),
});
