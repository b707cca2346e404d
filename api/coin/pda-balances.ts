import type { StoredPolicy } from '../../clickhouse/queries/states/policy.ts';
import type { TokenAccountRow } from '../../clickhouse/queries/states/token-accounts.ts';
import type { PdaBalance } from '../../schemas/responses/coin/coin.ts';
import { balanceOf } from '../figures/balances.ts';

/** Always all four; the base escrow holds the launched token and has its decimals. */
export function pdaBalances(
  policy: StoredPolicy,
  balances: ReadonlyMap<string, TokenAccountRow>,
  quoteDecimals: number | null,
  baseDecimals: number | null,
): PdaBalance[] {
  const entry = (kind: PdaBalance['kind'], decimals: number | null): PdaBalance => ({
    kind,
    tokenAccount: policy[kind],
    balance: balanceOf(policy[kind], balances.get(policy[kind])),
    decimals,
  });
  return [
    entry('bankroll', quoteDecimals),
    entry('quote_escrow', quoteDecimals),
    entry('base_escrow', baseDecimals),
    entry('holder_rewards', quoteDecimals),
  ];
}
