import { must } from '../errors.ts';
import {
  balanceOf,
  begin,
  configOf,
  emit,
  eventHead,
  type InstructionRun,
  invoke,
  mustRun,
  openTokenAccount,
  policyMetas,
  policyOf,
  readonly,
  signer,
  writable,
} from '../instruction-run.ts';
import { seededKey } from '../state/keys.ts';
import { AMM_PROGRAM, LAUNCHPAD_PROGRAM } from '../state/known-programs.ts';
import type { Key } from '../state/state.ts';
import { moveTokens, transferTokens } from './tokens.ts';

const BPS = 10_000n;

/** Collects what the launch venue owes: the quote leg into the quote escrow, the base leg into the base escrow. */
function claimFees(
  run: InstructionRun,
  action: { mint: Key; by: Key; quoteAmount: bigint; baseAmount: bigint },
): void {
  const at = run.addresses.ofPolicy(action.mint);
  const vault = seededKey(`fee-vault:${action.mint}`);
  begin(
    run,
    'claim_fees',
    [],
    [
      signer(action.by),
      ...policyMetas(run, action.mint),
      writable(at.quoteEscrow),
      writable(at.baseEscrow),
      writable(vault),
      readonly(LAUNCHPAD_PROGRAM),
    ],
  );
  const policy = policyOf(run, action.mint);
  mustRun(run, policy);
  policy.feesClaimed += action.quoteAmount;
  const steps = [
    { to: at.quoteEscrow, mint: policy.quoteMint, amount: action.quoteAmount },
    { to: at.baseEscrow, mint: policy.mint, amount: action.baseAmount },
  ]
    .filter((leg) => leg.amount > 0n)
    .map((leg) => transferTokens(run, { ...leg, from: vault, authority: vault }))
    .map((instruction) => ({ type: 'cpi' as const, instruction }));
  invoke(run, {
    program: LAUNCHPAD_PROGRAM,
    name: 'ClaimCreatorFee',
    data: Uint8Array.of(0x1a, 0x61, 0x8a, 0xcb, 0x84, 0xab, 0x8d, 0xfc),
    metas: [writable(vault), writable(at.quoteEscrow), writable(at.baseEscrow)],
    steps,
  });
  emit(run, {
    kind: 'FeesClaimed',
    fields: { ...eventHead(policy), quoteAmount: action.quoteAmount, baseAmount: action.baseAmount },
  });
}

/** Empties the quote escrow: protocol cut, bankroll share, and the rest to the LP staging account. */
function route(run: InstructionRun, action: { mint: Key; by: Key }): void {
  const at = run.addresses.ofPolicy(action.mint);
  const policy = policyOf(run, action.mint);
  const config = configOf(run);
  const feeAccount = run.addresses.feeAccount(config.feeDestination, policy.quoteMint);
  begin(
    run,
    'route',
    [],
    [
      signer(action.by),
      readonly(run.addresses.config.address),
      ...policyMetas(run, action.mint),
      ...[at.quoteEscrow, at.bankroll, at.lpQuote, feeAccount].map(writable),
    ],
  );
  mustRun(run, policy);
  const amount = balanceOf(run, at.quoteEscrow);
  must(amount > 0n, 'NothingToDo');
  const protocolCut = (amount * BigInt(config.protocolFeeBps)) / BPS;
  const rest = amount - protocolCut;
  const toBankroll = (rest * BigInt(policy.toBankrollBps)) / BPS;
  const toLp = rest - toBankroll;
  if (run.draft.get('tokens', feeAccount) === undefined) {
    openTokenAccount(run, { address: feeAccount, mint: policy.quoteMint, owner: config.feeDestination });
  }
  const from = { from: at.quoteEscrow, mint: policy.quoteMint, authority: at.policy };
  moveTokens(run, { ...from, to: feeAccount, amount: protocolCut });
  moveTokens(run, { ...from, to: at.bankroll, amount: toBankroll });
  moveTokens(run, { ...from, to: at.lpQuote, amount: toLp });
  policy.protocolFees += protocolCut;
  policy.routedToBankroll += toBankroll;
  emit(run, { kind: 'Routed', fields: { ...eventHead(policy), amount, protocolCut, toLp, toBankroll } });
}

/** Pushes staged quote into the position; the counter rises by the measured fall of the staging account. No event. */
function compoundLp(run: InstructionRun, action: { mint: Key; by: Key; amount: bigint }): void {
  const at = run.addresses.ofPolicy(action.mint);
  const position = seededKey(`lp-vault:${action.mint}`);
  begin(
    run,
    'compound_lp',
    [action.amount],
    [signer(action.by), writable(at.policy), writable(at.lpQuote), writable(position), readonly(AMM_PROGRAM)],
  );
  const policy = policyOf(run, action.mint);
  mustRun(run, policy);
  const before = balanceOf(run, at.lpQuote);
  moveTokens(run, {
    from: at.lpQuote,
    to: position,
    mint: policy.quoteMint,
    authority: at.policy,
    amount: action.amount,
  });
  policy.routedToLp += before - balanceOf(run, at.lpQuote);
}

export const FEE_INSTRUCTIONS = { claim_fees: claimFees, route, compound_lp: compoundLp };
