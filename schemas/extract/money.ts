import type { FieldValue } from '../program/struct.ts';
import { venueAddress } from '../solana/pda.ts';
import { sameBytes } from '../transaction/own-calls.ts';
import type { CallContext } from './instructions.ts';
import type { TokenMove } from './token-moves.ts';

type Amounts = Record<string, FieldValue> | null;

const total = (moves: readonly TokenMove[]): bigint => moves.reduce((sum, { amount }) => sum + amount, 0n);
const gained = (moves: readonly TokenMove[]): bigint =>
  moves.reduce((sum, { received }) => sum + received, 0n);

/** What left an account and what came to it while a call ran; null where that is not certain. */
function flow(
  { books, call }: CallContext,
  account: Uint8Array,
): { out: TokenMove[]; into: TokenMove[] } | null {
  if (!books.explains(account, call)) return null;
  const moves = books.of(call);
  const is = (side: Uint8Array | null) => side !== null && sameBytes(side, account);
  return { out: moves.filter(({ from }) => is(from)), into: moves.filter(({ to }) => is(to)) };
}

/** Whether the call was given the policy's entry of a token account. */
export function isOnAllowlist({ call, programId, of }: CallContext, tokenAccount: Uint8Array): boolean {
  const entry = venueAddress(programId, of.policy, tokenAccount);
  return call.accounts.some(({ address }) => sameBytes(address, entry));
}

/** What the two escrows gained. */
export function claimed(context: CallContext): Amounts {
  const { quoteEscrow, baseEscrow } = context.of.accounts;
  const [quote, base] = [flow(context, quoteEscrow), flow(context, baseEscrow)];
  if (quote === null || base === null || quote.out.length + base.out.length > 0) return null;
  return { quoteAmount: gained(quote.into), baseAmount: gained(base.into) };
}

/** The quote escrow is emptied: bankroll and LP staging get their shares, one other account the protocol's cut. */
export function routed(context: CallContext): Amounts {
  const { quoteEscrow, bankroll, lpQuote } = context.of.accounts;
  const escrow = flow(context, quoteEscrow);
  if (escrow === null || escrow.into.length > 0) return null;
  const to =
    (account: Uint8Array) =>
    ({ to: other }: TokenMove) =>
      other !== null && sameBytes(other, account);
  const toBankroll = escrow.out.filter(to(bankroll));
  const toLp = escrow.out.filter(to(lpQuote));
  const cut = escrow.out.filter((move) => !toBankroll.includes(move) && !toLp.includes(move));
  const [first] = cut;
  if (cut.some((move) => move.to === null || !to(move.to)(first as TokenMove))) return null;
  const amount = total(escrow.out);
  if (amount === 0n || !context.books.mayBeEmptyAfter(quoteEscrow, context.call)) return null;
  return { amount, protocolCut: total(cut), toLp: total(toLp), toBankroll: total(toBankroll) };
}

/** What left the bankroll for an account of the allowlist. */
export function deployed(context: CallContext): Amounts {
  const { of, args, named } = context;
  const bankroll = flow(context, of.accounts.bankroll);
  if (bankroll === null || bankroll.into.length > 0 || bankroll.out.length > 1) return null;
  const [move] = bankroll.out;
  const tokenAccount = move === undefined ? named('token_account') : move.to;
  if (tokenAccount === undefined || tokenAccount === null || total(bankroll.out) !== args.amount) return null;
  if (!isOnAllowlist(context, tokenAccount)) return null;
  return { tokenAccount, amount: total(bankroll.out) };
}

/** The two legs. Equity, profit and mark follow from attested numbers, which no transaction carries. */
export function swept(context: CallContext): Amounts {
  const { bankroll, lpQuote, holderRewards } = context.of.accounts;
  const left = flow(context, bankroll);
  if (left === null || left.into.length > 0) return null;
  const to = (account: Uint8Array) =>
    left.out.filter(({ to: other }) => other !== null && sameBytes(other, account));
  const [toLp, toHolders] = [to(lpQuote), to(holderRewards)];
  if (toLp.length + toHolders.length !== left.out.length) return null;
  return { toLp: total(toLp), toHolders: total(toHolders) };
}

/** What left the staged rewards, and what was burned of what it bought. */
export function bought(context: CallContext): Amounts {
  const rewards = flow(context, context.of.accounts.holderRewards);
  const burned = burnt(context);
  if (rewards === null || rewards.into.length > 0 || burned === null) return null;
  return { spent: total(rewards.out), ...burned };
}

export function burnt(context: CallContext): Amounts {
  const base = flow(context, context.of.accounts.baseEscrow);
  const burns = base?.out.filter(({ to }) => to === null) ?? [];
  return base === null || burns.length === 0 || burns.length !== base.out.length
    ? null
    : { burned: total(burns) };
}
