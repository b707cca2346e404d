import {
  balanceOf,
  begin,
  type Call,
  configOf,
  emit,
  invoke,
  mustRun,
  named,
  openTokenAccount,
  policyMetas,
  policyOf,
  readonly,
  signer,
  writable,
} from './call.ts';
import { must } from './errors.ts';
import { seededKey } from './keys.ts';
import { AMM_PROGRAM, LAUNCHPAD_PROGRAM } from './known-programs.ts';
import type { Key } from './state.ts';
import { moveTokens, transferTokens } from './tokens.ts';

const BPS = 10_000n;

/** Collects what the launch venue owes: the quote leg into the quote escrow, the base leg into the base escrow. */
export function claimFees(
  call: Call,
  action: { mint: Key; by: Key; quoteAmount: bigint; baseAmount: bigint },
): void {
  const at = call.addresses.ofPolicy(action.mint);
  const vault = seededKey(`fee-vault:${action.mint}`);
  begin(
    call,
    'claim_fees',
    [],
    [
      signer(action.by),
      ...policyMetas(call, action.mint),
      writable(at.quoteEscrow),
      writable(at.baseEscrow),
      writable(vault),
      readonly(LAUNCHPAD_PROGRAM),
    ],
  );
  const policy = policyOf(call, action.mint);
  mustRun(call, policy);
  policy.feesClaimed += action.quoteAmount;
  const steps = [
    { to: at.quoteEscrow, mint: policy.quoteMint, amount: action.quoteAmount },
    { to: at.baseEscrow, mint: policy.mint, amount: action.baseAmount },
  ]
    .filter((leg) => leg.amount > 0n)
    .map((leg) => transferTokens(call, { ...leg, from: vault, authority: vault }))
    .map((instruction) => ({ type: 'cpi' as const, instruction }));
  invoke(call, {
    program: LAUNCHPAD_PROGRAM,
    name: 'ClaimCreatorFee',
    data: Uint8Array.of(0x1a, 0x61, 0x8a, 0xcb, 0x84, 0xab, 0x8d, 0xfc),
    metas: [writable(vault), writable(at.quoteEscrow), writable(at.baseEscrow)],
    steps,
  });
  emit(call, {
    kind: 'FeesClaimed',
    fields: { ...named(policy), quoteAmount: action.quoteAmount, baseAmount: action.baseAmount },
  });
}

/** Empties the quote escrow: protocol cut, bankroll share, and the rest to the LP staging account. */
export function route(call: Call, action: { mint: Key; by: Key }): void {
  const at = call.addresses.ofPolicy(action.mint);
  const policy = policyOf(call, action.mint);
  const config = configOf(call);
  const feeAccount = call.addresses.feeAccount(config.feeDestination, policy.quoteMint);
  begin(
    call,
    'route',
    [],
    [
      signer(action.by),
      readonly(call.addresses.config.address),
      ...policyMetas(call, action.mint),
      ...[at.quoteEscrow, at.bankroll, at.lpQuote, feeAccount].map(writable),
    ],
  );
  mustRun(call, policy);
  const amount = balanceOf(call, at.quoteEscrow);
  must(amount > 0n, 'NothingToDo');
  const protocolCut = (amount * BigInt(config.protocolFeeBps)) / BPS;
  const rest = amount - protocolCut;
  const toBankroll = (rest * BigInt(policy.toBankrollBps)) / BPS;
  const toLp = rest - toBankroll;
  if (call.draft.get('tokens', feeAccount) === undefined) {
    openTokenAccount(call, { address: feeAccount, mint: policy.quoteMint, owner: config.feeDestination });
  }
  const from = { from: at.quoteEscrow, mint: policy.quoteMint, authority: at.policy };
  moveTokens(call, { ...from, to: feeAccount, amount: protocolCut });
  moveTokens(call, { ...from, to: at.bankroll, amount: toBankroll });
  moveTokens(call, { ...from, to: at.lpQuote, amount: toLp });
  policy.protocolFees += protocolCut;
  policy.routedToBankroll += toBankroll;
  emit(call, { kind: 'Routed', fields: { ...named(policy), amount, protocolCut, toLp, toBankroll } });
}

/** Pushes staged quote into the position; the counter rises by the measured fall of the staging account. No event. */
export function compoundLp(call: Call, action: { mint: Key; by: Key; amount: bigint }): void {
  const at = call.addresses.ofPolicy(action.mint);
  const position = seededKey(`lp-vault:${action.mint}`);
  begin(
    call,
    'compound_lp',
    [action.amount],
    [signer(action.by), writable(at.policy), writable(at.lpQuote), writable(position), readonly(AMM_PROGRAM)],
  );
  const policy = policyOf(call, action.mint);
  mustRun(call, policy);
  const before = balanceOf(call, at.lpQuote);
  moveTokens(call, {
    from: at.lpQuote,
    to: position,
    mint: policy.quoteMint,
    authority: at.policy,
    amount: action.amount,
  });
  policy.routedToLp += before - balanceOf(call, at.lpQuote);
}
