import { absent, type Figure } from '../../schemas/figure.ts';
import type { View } from '../latest/view.ts';

const UNLISTED = "no list of the program's accounts (getProgramAccounts) was proved whole";
const NOT_HERE =
  "the list of the program's accounts that was proved whole is here once the index has come to slot";

/**
 * Why counts and sums over all policies are absent; null where every policy is known. A policy that was not written
 * since this service began is known where a node's list of the program's accounts is applied here, or where history is
 * complete and each account that it names was read.
 */
export function unknownPoliciesReason(view: View): string | null {
  const { listed, slot, late } = view.single('listed');
  const state = view.state();
  if (listed !== 0 && (slot === null ? late === 0 : state.hasReached(slot))) return null;
  const unlisted = listed === 0 || slot === null ? UNLISTED : `${NOT_HERE} ${slot}`;
  const { historyReason } = state;
  if (historyReason !== null) return `${unlisted}, and ${historyReason}`;
  const { count: unread } = view.single('unreadNames');
  return unread === 0
    ? null
    : `${unlisted}, and ${unread} of those that history names are not read yet, or do not decode`;
}

/** The same figures, absent where there is a reason. */
export function absentWhere<T extends Record<string, Figure>>(reason: string | null, figures: T): T {
  if (reason === null) return figures;
  const all = Object.entries(figures).map(([name, { source }]) => [name, absent(source, reason)]);
  return Object.fromEntries(all) as T;
}
