import { inOrder, keyWithin } from '../../in-order.ts';
import { sharedRows } from '../../shared-reads.ts';
import { addedUp, noSums, POLICY_SUMS, type PolicySums } from '../../sum-columns.ts';

/** Sums of a policy's events over all partitions of the log. */
export type PolicyTotalsRow = PolicySums & { mint: string };

export const NO_TOTALS: PolicySums = noSums(POLICY_SUMS);

/** The totals of the policies of these mints, by mint; a policy without events has none. */
export const policyTotals = sharedRows<PolicyTotalsRow>('mint', (store, mints) =>
  store.query(
    `SELECT t.mint AS mint, ${addedUp(POLICY_SUMS)}
     FROM policy_totals AS t FINAL
     WHERE t.mint IN {mints:Array(String)}
     GROUP BY t.mint`,
    { mints },
  ),
);

export const policyTotalsInOrder = inOrder(
  `SELECT t.mint AS key, t.mint AS mint, ${addedUp(POLICY_SUMS)}
   FROM policy_totals AS t FINAL
   WHERE ${keyWithin('t.mint')}
   GROUP BY t.mint
   ORDER BY t.mint
   LIMIT {most:UInt32}`,
);
