import type { Store } from '../../client.ts';
import { sharedRead } from '../../shared-reads.ts';

/** Policies and their counters per quote asset; `oldest_time` null where the time of one state is not known. */
export interface QuoteTotalsRow {
  quote_mint: string;
  policy_count: number;
  agent_count: number;
  locked_count: number;
  paused_count: number;
  oldest_time: string | null;
  fees_claimed: string;
  protocol_fees: string;
  routed_to_lp: string;
  routed_to_bankroll: string;
  profit_swept: string;
  paid_to_holders: string;
  credit_spent: string;
}

/** Most policies first, then by quote mint. */
export async function quoteTotals(store: Store): Promise<QuoteTotalsRow[]> {
  return store.query<QuoteTotalsRow>(
    `SELECT p.quote_mint AS quote_mint,
       toUInt32(count()) AS policy_count,
       toUInt32(countIf(p.mode = 'Agent')) AS agent_count,
       toUInt32(countIf(p.locked = 1)) AS locked_count,
       toUInt32(countIf(p.paused = 1)) AS paused_count,
       if(countIf(p.block_time IS NULL) > 0, NULL, min(p.block_time)) AS oldest_time,
       toString(sum(toUInt128(p.fees_claimed))) AS fees_claimed,
       toString(sum(toUInt128(p.protocol_fees))) AS protocol_fees,
       toString(sum(toUInt128(p.routed_to_lp))) AS routed_to_lp,
       toString(sum(toUInt128(p.routed_to_bankroll))) AS routed_to_bankroll,
       toString(sum(toUInt128(p.profit_swept))) AS profit_swept,
       toString(sum(toUInt128(p.paid_to_holders))) AS paid_to_holders,
       toString(sum(toUInt128(p.credit_spent))) AS credit_spent
     FROM policies AS p FINAL
     WHERE p.exists = 1
     GROUP BY p.quote_mint
     ORDER BY policy_count DESC, quote_mint`,
    {},
  );
}

/** The quote assets that policies have. */
export const quotesInUse = sharedRead(async (store): Promise<string[]> => {
  const rows = await store.query<{ quote_mint: string }>(
    'SELECT DISTINCT quote_mint FROM policies FINAL WHERE exists = 1',
    {},
  );
  return rows.map((row) => row.quote_mint);
});
