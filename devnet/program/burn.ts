import {
  balanceOf,
  begin,
  type Call,
  emit,
  invoke,
  mustRun,
  named,
  policyOf,
  readonly,
  signer,
  writable,
} from './call.ts';
import { lesser } from './curve.ts';
import { must } from './errors.ts';
import { seededKey } from './keys.ts';
import { AMM_PROGRAM, LAUNCHPAD_PROGRAM } from './known-programs.ts';
import { buyOnCurve } from './pools.ts';
import type { Key } from './state.ts';
import { burnTokens, transferTokens } from './tokens.ts';

/** Base units of the token that one unit of quote buys where no curve sets the price. */
const AMM_RATE = 37n;

/** Spends staged quote on the token and burns what it bought. */
export function buybackAndBurn(call: Call, action: { mint: Key; by: Key; amount: bigint }): void {
  const at = call.addresses.ofPolicy(action.mint);
  const policy = policyOf(call, action.mint);
  const poolKey = call.addresses.pool(policy.mint, policy.quoteMint);
  const vault = seededKey(`pool-vault:${poolKey}`);
  const pool = call.draft.get('pools', poolKey);
  const onCurve = pool?.status === 0;
  begin(
    call,
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
  mustRun(call, policy);
  must(action.amount > 0n && balanceOf(call, at.holderRewards) > 0n, 'NothingToDo');
  must(balanceOf(call, at.holderRewards) >= action.amount, 'InsufficientFunds');
  const bought = onCurve ? buyOnCurve(call, poolKey, action.amount) : action.amount * AMM_RATE;
  const supply = call.draft.get('mints', action.mint)?.supply ?? 0n;
  const burned = lesser(bought, supply / 100n);
  const quote = transferTokens(call, {
    from: at.holderRewards,
    to: vault,
    mint: policy.quoteMint,
    authority: at.policy,
    amount: action.amount,
  });
  const base = transferTokens(call, {
    from: vault,
    to: at.baseEscrow,
    mint: policy.mint,
    authority: poolKey,
    amount: burned,
  });
  invoke(call, {
    program: onCurve ? LAUNCHPAD_PROGRAM : AMM_PROGRAM,
    name: onCurve ? 'BuyExactIn' : 'SwapBaseInput',
    data: Uint8Array.of(0xfa, 0xea, 0x0d, 0x7b, 0xd5, 0x9c, 0x13, 0xec),
    metas: [at.holderRewards, at.baseEscrow, poolKey, vault].map(writable),
    steps: [quote, base].map((instruction) => ({ type: 'cpi', instruction })),
  });
  burnTokens(call, { from: at.baseEscrow, mint: policy.mint, authority: at.policy, amount: burned });
  policy.paidToHolders += action.amount;
  policy.tokensBurned += burned;
  emit(call, { kind: 'BuybackBurned', fields: { ...named(policy), spent: action.amount, burned } });
}

/** Burns the base leg of claimed fees, no share taken. */
export function burnBaseLeg(call: Call, action: { mint: Key; by: Key }): void {
  const at = call.addresses.ofPolicy(action.mint);
  const policy = policyOf(call, action.mint);
  begin(
    call,
    'burn_base_leg',
    [],
    [
      signer(action.by),
      ...[at.policy, action.mint].map(writable),
      readonly(policy.quoteMint),
      writable(at.baseEscrow),
    ],
  );
  mustRun(call, policy);
  const burned = balanceOf(call, at.baseEscrow);
  must(burned > 0n, 'NothingToDo');
  burnTokens(call, { from: at.baseEscrow, mint: policy.mint, authority: at.policy, amount: burned });
  policy.tokensBurned += burned;
  emit(call, { kind: 'BaseLegBurned', fields: { ...named(policy), burned } });
}
