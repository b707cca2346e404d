import { MalformedError } from '../malformed.ts';
import { discriminatorOf, type IdlInstruction, INSTRUCTIONS_WITH_EVENT } from '../program/idl.ts';
import { areReadable, fieldsReader, type Struct } from '../program/struct.ts';
import {
  lpQuoteAddress,
  type PolicyTokenAccounts,
  policyAddress,
  policyTokenAccounts,
} from '../solana/pda.ts';
import { sameBytes } from '../transaction/own-calls.ts';
import type { Call } from '../transaction/parts.ts';
import type { TokenBooks } from './token-books.ts';

/** A policy that a call is about. */
export interface PolicyOfCall {
  policy: Uint8Array;
  mint: Uint8Array;
  quoteMint: Uint8Array;
  accounts: PolicyTokenAccounts & { lpQuote: Uint8Array };
}

/** A call that emits events, as the IDL describes its instruction. */
export interface EmittingCall {
  call: Call;
  instruction: IdlInstruction;
  /** The account of that name; undefined where the IDL or the call has none. */
  named(name: string): Uint8Array | undefined;
}

/** What a rule is given about a call that shows no event. */
export interface CallContext extends EmittingCall {
  books: TokenBooks;
  args: Struct;
  of: PolicyOfCall;
  programId: Uint8Array;
}

/** Null for a call that emits nothing. */
export function emittingCall(call: Call): EmittingCall | null {
  const instruction = INSTRUCTIONS_WITH_EVENT.get(discriminatorOf(call.data));
  if (instruction === undefined) return null;
  const named = (name: string) => call.accounts[instruction.accounts.indexOf(name)]?.address;
  return { call, instruction, named };
}

/** The call's arguments by camelCase name; none where its data do not hold them, or one is of a type that is not read. */
export function argumentsOf({ call, instruction }: EmittingCall): Struct {
  if (!areReadable(instruction.args)) return {};
  try {
    return fieldsReader(instruction.name, instruction.args)(call.data);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return {};
  }
}

/** The policy of a call; null where the transaction does not name all of it. */
export function policyOfCall(
  { call, named }: EmittingCall,
  books: TokenBooks,
  programId: Uint8Array,
): PolicyOfCall | null {
  const policy = named('policy');
  if (policy === undefined) return null;
  const namedMint = named('mint');
  const candidates = [
    ...(namedMint === undefined ? [] : [namedMint]),
    ...books.mints(),
    ...call.accounts.map(({ address }) => address),
  ];
  const mint = candidates.find((key) => sameBytes(policyAddress(programId, key), policy));
  if (mint === undefined) return null;
  const accounts = {
    ...policyTokenAccounts(programId, policy),
    lpQuote: lpQuoteAddress(programId, policy),
  };
  const { bankroll, quoteEscrow, holderRewards, lpQuote } = accounts;
  const quoteMints = [
    named('quote_mint'),
    ...[bankroll, quoteEscrow, holderRewards, lpQuote].map(books.mintOf),
  ].filter((key) => key !== undefined);
  const [quoteMint] = quoteMints;
  if (quoteMint === undefined || quoteMints.some((key) => !sameBytes(key, quoteMint))) return null;
  return { policy, mint, quoteMint, accounts };
}
