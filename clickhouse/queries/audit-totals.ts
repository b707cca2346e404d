import type { Store } from '../client.ts';
import { AT_LOW_COST, type MintRange } from './audit-ranges.ts';

/** Sums of a policy's events in one partition of the log, decimal strings; times are unix seconds. */
export interface PartitionTotals {
  mint: string;
  log_partition: number;
  fees_quote: string;
  fees_base: string;
  claim_count: string;
  last_claim: string | null;
  routed: string;
  protocol_cut: string;
  routed_to_lp: string;
  routed_to_bankroll: string;
  last_routed: string | null;
  profit: string;
  profit_to_lp: string;
  profit_to_holders: string;
  last_swept: string | null;
  buyback_spent: string;
  buyback_burned: string;
  last_buyback: string | null;
  event_count: string;
}

/** What readers are served. */
export function storedTotals(store: Store, { first, last }: MintRange): Promise<PartitionTotals[]> {
  return store.query<PartitionTotals>(
    `SELECT t.mint AS mint, t.log_partition AS log_partition,
       toString(t.fees_quote) AS fees_quote, toString(t.fees_base) AS fees_base,
       toString(t.claim_count) AS claim_count, t.last_claim AS last_claim,
       toString(t.routed) AS routed, toString(t.protocol_cut) AS protocol_cut,
       toString(t.routed_to_lp) AS routed_to_lp, toString(t.routed_to_bankroll) AS routed_to_bankroll,
       t.last_routed AS last_routed,
       toString(t.profit) AS profit, toString(t.profit_to_lp) AS profit_to_lp,
       toString(t.profit_to_holders) AS profit_to_holders, t.last_swept AS last_swept,
       toString(t.buyback_spent) AS buyback_spent, toString(t.buyback_burned) AS buyback_burned,
       t.last_buyback AS last_buyback, toString(t.event_count) AS event_count
     FROM policy_totals AS t FINAL
     WHERE t.mint >= {first:String} AND t.mint <= {last:String}
     ORDER BY t.mint, t.log_partition
     ${AT_LOW_COST}`,
    { first, last },
  );
}

/** What the facts say, and `print` of the very facts that say it: it changes where any of them does. */
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
       toString(count()) AS event_count,
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
