import { differingIn } from '../latest/kinds/tallies/sums.ts';
import type { View } from '../latest/view.ts';

/**
 * Why sums over all venue accounts are absent; null where each policy has as many as are known of it. The partitions of
 * the log bring a policy and its accounts one after the other: before the slot of both is applied neither is missing.
 */
export function unknownVenuesReason(view: View): string | null {
  const differing = differingIn(view);
  if (differing === null || BigInt(differing.since) > BigInt(view.state().applied.slot)) return null;
  const { policy, known, counted } = differing;
  return `${known} of ${counted} venue accounts of the policy ${policy} are known`;
}
