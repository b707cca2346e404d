import { sharedRows } from '../shared-reads.ts';

/** The last good state of a policy account. Amounts are decimal strings, flags 0 or 1. */
export interface StoredPolicy {
  address: string;
  slot: string;
  block_time: string | null;
  signature: string | null;
  mint: string;
  quote_mint: string;
  fee_key_mint: string;
  authority: string;
  agent: string | null;
  guardian: string;
  origin: string;
  origin_id: number;
  mode: 'Passive' | 'Agent';
  model_id: number;
  to_lp_bps: number;
  to_bankroll_bps: number;
  profit_to_lp_bps: number;
  profit_to_holders_bps: number;
  profit_to_bankroll_bps: number;
  risk: number;
  target_asset: string;
  target_leverage_x: number;
  locked: number;
  paused: number;
  fees_claimed: string;
  protocol_fees: string;
  routed_to_lp: string;
  routed_to_bankroll: string;
  profit_swept: string;
  paid_to_holders: string;
  tokens_burned: string;
  credit_spent: string;
  hwm: string;
  venue_count: number;
  created_at: string;
  bankroll: string;
  quote_escrow: string;
  base_escrow: string;
  holder_rewards: string;
}

/** The policies at these addresses that exist, by address. */
export const policiesAt = sharedRows<StoredPolicy>('address', (store, addresses) =>
  store.query(
    `SELECT address, slot, block_time, signature, mint, quote_mint, fee_key_mint, authority, agent, guardian,
       origin, origin_id, mode, model_id, to_lp_bps, to_bankroll_bps,
       profit_to_lp_bps, profit_to_holders_bps, profit_to_bankroll_bps,
       risk, target_asset, target_leverage_x, locked, paused,
       fees_claimed, protocol_fees, routed_to_lp, routed_to_bankroll, profit_swept,
       paid_to_holders, tokens_burned, credit_spent, hwm, venue_count, created_at,
       bankroll, quote_escrow, base_escrow, holder_rewards
     FROM policies FINAL
     WHERE address IN {addresses:Array(String)} AND exists = 1`,
    { addresses },
  ),
);

export interface LastTransactionRow {
  policy: string;
  signature: string;
  slot: string;
  block_time: string | null;
}

/** The newest transaction with an event of each of these policies or a write to it, by policy. */
export const lastTransactions = sharedRows<LastTransactionRow>('policy', (store, policies) =>
  store.query(
    `SELECT policy, signature, slot, block_time
     FROM policy_transactions FINAL
     WHERE policy IN {policies:Array(String)}
     ORDER BY slot DESC, tx_index DESC, signature DESC
     LIMIT 1 BY policy`,
    { policies },
  ),
);
