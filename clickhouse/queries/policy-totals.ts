import { sharedRows } from '../shared-reads.ts';

/** Sums of a policy's events over all partitions of the log; times are unix seconds of the newest event summed. */
export interface PolicyTotalsRow {
  mint: string;
  fees_quote: string;
  fees_base: string;
  claim_count: string;
  last_claim: string | null;
  routed: string;
  protocol_cut: string;
  routed_to_lp: string;
  routed_to_bankroll: string;
  last_routed: string | null;
  profit_to_lp: string;
  profit_to_holders: string;
  last_swept: string | null;
  buyback_spent: string;
  buyback_burned: string;
  last_buyback: string | null;
}

export const NO_TOTALS: Omit<PolicyTotalsRow, 'mint'> = {
  fees_quote: '0',
  fees_base: '0',
  claim_count: '0',
  last_claim: null,
  routed: '0',
  protocol_cut: '0',
  routed_to_lp: '0',
  routed_to_bankroll: '0',
  last_routed: null,
  profit_to_lp: '0',
  profit_to_holders: '0',
  last_swept: null,
  buyback_spent: '0',
  buyback_burned: '0',
  last_buyback: null,
};

/** The totals of the policies of these mints, by mint; a policy without events has none. */
export const policyTotals = sharedRows<PolicyTotalsRow>('mint', (store, mints) =>
  store.query(
    `SELECT t.mint AS mint,
       toString(sum(t.fees_quote)) AS fees_quote, toString(sum(t.fees_base)) AS fees_base,
       toString(sum(t.claim_count)) AS claim_count, max(t.last_claim) AS last_claim,
       toString(sum(t.routed)) AS routed, toString(sum(t.protocol_cut)) AS protocol_cut,
       toString(sum(t.routed_to_lp)) AS routed_to_lp,
       toString(sum(t.routed_to_bankroll)) AS routed_to_bankroll, max(t.last_routed) AS last_routed,
       toString(sum(t.profit_to_lp)) AS profit_to_lp, toString(sum(t.profit_to_holders)) AS profit_to_holders,
       max(t.last_swept) AS last_swept,
       toString(sum(t.buyback_spent)) AS buyback_spent, toString(sum(t.buyback_burned)) AS buyback_burned,
       max(t.last_buyback) AS last_buyback
     FROM policy_totals AS t FINAL
     WHERE t.mint IN {mints:Array(String)}
     GROUP BY t.mint`,
    { mints },
  ),
);
