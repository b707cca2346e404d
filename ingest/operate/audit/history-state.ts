import type { Store } from '../../../clickhouse/client.ts';
import {
  appliedState,
  gapStates,
  incompleteState,
} from '../../../clickhouse/queries/progress/index-state.ts';

/** Why something cannot be compared. */
export const OPEN_GAP = 'a gap of history is open';

/** How much of history the index has now. */
export interface HistoryState {
  /** Every slot up to this one is applied, as far as no gap says otherwise. */
  slot: bigint;
  /** First slots of the gaps that are open. */
  openFrom: bigint[];
  /** Policies that have an incomplete transaction. */
  incomplete: ReadonlySet<string>;
}

export async function historyState(store: Store): Promise<HistoryState> {
  const [applied, gaps, incomplete] = [
    await appliedState(store),
    await gapStates(store),
    await incompleteState(store),
  ];
  const open = gaps.filter(
    ({ open_partitions, partitions }) => open_partitions > 0 || partitions < applied.transaction_partitions,
  );
  return {
    slot: BigInt(applied.slot),
    openFrom: open.map(({ from_slot }) => BigInt(from_slot)),
    incomplete: new Set(incomplete.policies.map(([policy]) => policy)),
  };
}

/** Why the events of a policy up to a slot are not all there; null where they are. */
export function missingBefore(state: HistoryState, policy: string, slot: bigint): string | null {
  if (state.slot < slot) return 'the index has not come to the slot of the state';
  if (state.openFrom.some((from) => from <= slot)) return OPEN_GAP;
  return state.incomplete.has(policy) ? 'a transaction of the policy is incomplete' : null;
}
