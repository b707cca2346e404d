import { must } from '../errors.ts';
import {
  balanceOf,
  begin,
  emit,
  eventHead,
  type InstructionRun,
  mustRun,
  policyMetas,
  policyOf,
  signer,
  writable,
} from '../instruction-run.ts';
import type { Key } from '../state/state.ts';
import { pairMetas, readDeployed, type VenuePair } from './equity.ts';
import { moveTokens } from './tokens.ts';

const BPS = 10_000n;

/** How profit is split when the bankroll holds `bankroll`: never more than that leaves it. */
export function splitProfit(
  profit: bigint,
  bankroll: bigint,
  bps: { profitToLpBps: number; profitToHoldersBps: number },
): { toLp: bigint; toHolders: bigint } {
  const toLp = (profit * BigInt(bps.profitToLpBps)) / BPS;
  const toHolders = (profit * BigInt(bps.profitToHoldersBps)) / BPS;
  const requested = toLp + toHolders;
  if (requested <= bankroll) return { toLp, toHolders };
  const reduced = (toLp * bankroll) / requested;
  return { toLp: reduced, toHolders: bankroll - reduced };
}

/** Splits what equity holds above the high water mark, and raises the mark to what stays. */
function sweepProfit(
  run: InstructionRun,
  action: { mint: Key; by: Key; venues: readonly VenuePair[] },
): void {
  const at = run.addresses.ofPolicy(action.mint);
  begin(
    run,
    'sweep_profit',
    [],
    [
      signer(action.by),
      ...policyMetas(run, action.mint),
      ...[at.bankroll, at.lpQuote, at.holderRewards].map(writable),
      ...pairMetas(action.venues),
    ],
  );
  const policy = policyOf(run, action.mint);
  mustRun(run, policy);
  const bankroll = balanceOf(run, at.bankroll);
  const equity = bankroll + readDeployed(run, policy, action.venues);
  must(equity > policy.hwm, 'NothingToDo');
  const profit = equity - policy.hwm;
  const { toLp, toHolders } = splitProfit(profit, bankroll, policy);
  const moved = toLp + toHolders;
  const from = { from: at.bankroll, mint: policy.quoteMint, authority: at.policy };
  moveTokens(run, { ...from, to: at.lpQuote, amount: toLp });
  moveTokens(run, { ...from, to: at.holderRewards, amount: toHolders });
  // The spec has both: the new mark is equity - moved, and the mark never falls. Moving no more than the profit,
  // the first keeps the second.
  policy.hwm = equity - moved;
  policy.profitSwept += moved;
  emit(run, {
    kind: 'ProfitSwept',
    fields: { ...eventHead(policy), equity, profit, toLp, toHolders, hwm: policy.hwm },
  });
}

export const PROFIT_INSTRUCTIONS = { sweep_profit: sweepProfit };
