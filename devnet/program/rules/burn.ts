import { must } from '../errors.ts';
import {
  balanceOf,
  begin,
  emit,
  eventHead,
  type InstructionRun,
  invoke,
  mustRun,
  policyOf,
  readonly,
  signer,
  writable,
} from '../instruction-run.ts';
import { seededKey } from '../state/keys.ts';
import { AMM_PROGRAM, LAUNCHPAD_PROGRAM } from '../state/known-programs.ts';
import type { Key } from '../state/state.ts';
import { lesser } from './curve.ts';
import { buyOnCurve } from './pools.ts';
import { burnTokens, transferTokens } from './tokens.ts';

/** Base units of the token that one unit of quote buys where no curve sets the price. */
const AMM_RATE = 37n;

/** Spends staged quote on the token and burns what it bought. */
function buybackAndBurn(run: InstructionRun, action: { mint: Key; by: Key; amount: bigint }): void {
  const at = run.addresses.ofPolicy(action.mint);
  const policy = policyOf(run, action.mint);
  const poolKey = run.addresses.pool(policy.mint, policy.quoteMint);
  const vault = seededKey(`pool-vault:${poolKey}`);
  const pool = run.draft.get('pools', poolKey);
  const onCurve = pool?.status === 0;
  begin(
    run,
    'buyback_and_burn',
    [action.amount],
    [
      signer(action.by),
      ...[at.policy, action.mint].map(writable),
      readonly(policy.quoteMint),
      ...[at.holderRewards, at.baseEscrow, poolKey, vault].map(writable),
      readonly(onCurve ? LAUNCHPAD_PROGRAM : AMM_PROGRAM),
    ],
  );
  mustRun(run, policy);
  must(action.amount > 0n && balanceOf(run, at.holderRewards) > 0n, 'NothingToDo');
  must(balanceOf(run, at.holderRewards) >= action.amount, 'InsufficientFunds');
  const bought = onCurve ? buyOnCurve(run, poolKey, action.amount) : action.amount * AMM_RATE;
  const supply = run.draft.get('mints', action.mint)?.supply ?? 0n;
  const burned = lesser(bought, supply / 100n);
  const quote = transferTokens(run, {
    from: at.holderRewards,
    to: vault,
    mint: policy.quoteMint,
    authority: at.policy,
    amount: action.amount,
  });
  const base = transferTokens(run, {
    from: vault,
    to: at.baseEscrow,
    mint: policy.mint,
    authority: poolKey,
    amount: burned,
  });
  invoke(run, {
    program: onCurve ? LAUNCHPAD_PROGRAM : AMM_PROGRAM,
    name: onCurve ? 'BuyExactIn' : 'SwapBaseInput',
    data: Uint8Array.of(0xfa, 0xea, 0x0d, 0x7b, 0xd5, 0x9c, 0x13, 0xec),
    metas: [at.holderRewards, at.baseEscrow, poolKey, vault].map(writable),
    steps: [quote, base].map((instruction) => ({ type: 'cpi', instruction })),
  });
  burnTokens(run, { from: at.baseEscrow, mint: policy.mint, authority: at.policy, amount: burned });
  policy.paidToHolders += action.amount;
  policy.tokensBurned += burned;
  emit(run, { kind: 'BuybackBurned', fields: { ...eventHead(policy), spent: action.amount, burned } });
}

/** Burns the base leg of claimed fees, no share taken. */
function burnBaseLeg(run: InstructionRun, action: { mint: Key; by: Key }): void {
  const at = run.addresses.ofPolicy(action.mint);
  const policy = policyOf(run, action.mint);
  begin(
    run,
    'burn_base_leg',
    [],
    [
      signer(action.by),
      ...[at.policy, action.mint].map(writable),
      readonly(policy.quoteMint),
      writable(at.baseEscrow),
    ],
  );
  mustRun(run, policy);
  const burned = balanceOf(run, at.baseEscrow);
  must(burned > 0n, 'NothingToDo');
  burnTokens(run, { from: at.baseEscrow, mint: policy.mint, authority: at.policy, amount: burned });
  policy.tokensBurned += burned;
  emit(run, { kind: 'BaseLegBurned', fields: { ...eventHead(policy), burned } });
}

export const BURN_INSTRUCTIONS = { buyback_and_burn: buybackAndBurn, burn_base_leg: burnBaseLeg };
