import type { Store } from '../../client.ts';
import { asStored, POLICY_SUMS, type PolicySums } from '../../sum-columns.ts';
import { AT_LOW_COST, type MintRange } from './ranges.ts';

/** Sums of a policy's events in one partition of the log. */
export type PartitionTotals = PolicySums & { mint: string; log_partition: number };

/** The sums that readers are served. */
export function storedTotals(store: Store, { first, last }: MintRange): Promise<PartitionTotals[]> {
  return store.query<PartitionTotals>(
    `SELECT t.mint AS mint, t.log_partition AS log_partition, ${asStored(POLICY_SUMS)}
     FROM policy_totals AS t FINAL
     WHERE t.mint >= {first:String} AND t.mint <= {last:String}
     ORDER BY t.mint, t.log_partition
     ${AT_LOW_COST}`,
    { first, last },
  );
}

/**
 * The same sums made of the facts. Written out once more, apart from the code that makes the stored ones, so that a
 * mistake there shows. `print` is a hash of the facts that were summed: it changes where any of them does.
 */
export function recomputedTotals(
  store: Store,
  { first, last }: MintRange,
): Promise<(PartitionTotals & { print: string })[]> {
  return store.query<PartitionTotals & { print: string }>(
    `SELECT e.mint AS mint, e.log_partition AS log_partition,
       toString(sumIf(toUInt128(amount_a), kind = 'FeesClaimed')) AS fees_quote,
       toString(sumIf(toUInt128(amount_b), kind = 'FeesClaimed')) AS fees_base,
       toString(countIf(kind = 'FeesClaimed')) AS claim_count,
       maxOrNullIf(block_time, kind = 'FeesClaimed') AS last_claim,
       toString(sumIf(toUInt128(amount_a), kind = 'Routed')) AS routed,
       toString(sumIf(toUInt128(amount_b), kind = 'Routed')) AS protocol_cut,
       toString(sumIf(toUInt128(amount_c), kind = 'Routed')) AS routed_to_lp,
       toString(sumIf(toUInt128(amount_d), kind = 'Routed')) AS routed_to_bankroll,
       maxOrNullIf(block_time, kind = 'Routed') AS last_routed,
       toString(sumIf(toUInt128(amount_a), kind = 'ProfitSwept')) AS profit,
       toString(sumIf(toUInt128(amount_b), kind = 'ProfitSwept')) AS profit_to_lp,
       toString(sumIf(toUInt128(amount_c), kind = 'ProfitSwept')) AS profit_to_holders,
       maxOrNullIf(block_time, kind = 'ProfitSwept') AS last_swept,
       toString(sumIf(toUInt128(amount_a), kind = 'BuybackBurned')) AS buyback_spent,
       toString(sumIf(toUInt128(amount_b), kind = 'BuybackBurned')) AS buyback_burned,
       maxOrNullIf(block_time, kind = 'BuybackBurned') AS last_buyback,
       toString(countIf(kind != '')) AS event_count,
       toString(groupBitXor(cityHash64(slot, signature, position, kind, has_index, ifNull(block_time, -1),
         amount_a, amount_b, amount_c, amount_d))) AS print
     FROM events AS e FINAL
     WHERE e.mint >= {first:String} AND e.mint <= {last:String}
     GROUP BY e.mint, e.log_partition
     ORDER BY e.mint, e.log_partition
     ${AT_LOW_COST}`,
    { first, last },
  );
}
