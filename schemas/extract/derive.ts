import { ANYTHING } from '../incomplete.ts';
import { MalformedError } from '../malformed.ts';
import type { ProgramEvent } from '../program/event-kinds.ts';
import type { KnownEvent } from '../program/events.ts';
import { encodeBase58 } from '../solana/base58.ts';
import { policyAddress } from '../solana/pda.ts';
import { eventsByCall, isWhole, lacksPause, type ReadEmission } from '../transaction/emissions.ts';
import { type OwnCall, sameBytes } from '../transaction/own-calls.ts';
import type { Call, ChainTransaction } from '../transaction/parts.ts';
import { type EventGroup, groupedEvents, type ImpliedEvent, MOST_CALLS, positionOf } from './groups.ts';
import { argumentsOf, type EmittingCall, emittingCall, policyOfCall } from './instructions.ts';
import { POLICY_RULES, PROTOCOL_RULES } from './rules.ts';
import { type TokenBooks, tokenBooksOf } from './token-books.ts';

/** All events of a kind of a policy in a transaction whose logs were cut, as one. */
export interface DerivedEvent extends KnownEvent {
  position: number;
  /** Whether its profit was settled from states of the policy: the transaction does not tell it. */
  settled: boolean;
  /** Where it stands for the registration of several venue accounts: the token account of each. */
  registered?: Uint8Array[];
}

/** Profits that a transaction swept but does not tell itself, by policy in base58. */
export type Profits = ReadonlyMap<string, bigint>;

export const NO_PROFITS: Profits = new Map();

/** What a transaction does not decide: kinds of events, or `<kind>.<amount>`, and the accounts that it is about. */
export interface Undecided {
  what: string[];
  /** Base58. */
  accounts: string[];
}

export interface Derived {
  events: DerivedEvent[];
  /** Null where all is decided. */
  undecided: Undecided | null;
}

/**
 * What a transaction with cut logs did, from what is never cut: its calls with their accounts and data, and the token
 * balances before and after. Events that were seen count as they are; the others follow from their calls.
 */
export function derive(
  tx: ChainTransaction,
  own: readonly OwnCall[],
  read: readonly ReadEmission[],
  programId: Uint8Array,
  profits: Profits,
): Derived {
  const books = balancesTold(tx);
  const heard = eventsByCall(read);
  const calls = own.filter(({ event }) => event === null).map(({ call }) => call);
  // An event without a known call may be any call's; calls beyond MOST_CALLS would have no positions.
  if (heard.has(undefined) || calls.length > MOST_CALLS)
    return {
      events: [],
      undecided: together(calls.map((call) => ofCall({ what: [ANYTHING], of: given(call) }))),
    };

  const members: ImpliedEvent[] = [];
  const undecided: UndecidedCall[] = [];
  calls.forEach((call, place) => {
    const events = heard.get(call) ?? [];
    members.push(...events.map((event) => ({ ...event, place })));
    const emitting = emittingCall(call);
    if (emitting === null || isWhole(emitting.instruction, events)) return;
    const told = lacksPause(events) ? pauseOf(events) : toldBy(emitting, books, programId);
    if (told === null)
      undecided.push({ what: emitting.instruction.emits, of: concerned(emitting, programId) });
    else members.push({ ...told, place });
  });

  const groups = groupedEvents(members)
    .filter((group) => !undecided.some((one) => mayHold(one, group)))
    .map((group) => withProfit(group, profits));
  const events = groups.map(({ unknown: _, place, ...known }) => ({
    ...known,
    position: positionOf(known.event, place),
  }));
  return { events, undecided: together([...undecided.map(ofCall), ...groups.flatMap(ofGroup)]) };
}

function withProfit(group: EventGroup, profits: Profits): EventGroup & { settled: boolean } {
  const { event, of, unknown, fields } = group;
  const lacks = event === 'ProfitSwept' && of !== null && unknown.includes('profit');
  const profit = lacks ? profits.get(encodeBase58(of.policy)) : undefined;
  if (profit === undefined) return { ...group, settled: false };
  const others = unknown.filter((name) => name !== 'profit');
  return { ...group, unknown: others, fields: { ...fields, profit }, settled: true };
}

/** The transaction's books; malformed token balances count as none. */
function balancesTold(tx: ChainTransaction): TokenBooks {
  try {
    return tokenBooksOf(tx);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return tokenBooksOf({ ...tx, tokenBalances: () => [] });
  }
}

function pauseOf([report]: readonly ProgramEvent[]): Pick<KnownEvent, 'event' | 'of' | 'fields'> | null {
  return report === undefined
    ? null
    : { event: 'PolicyPaused', of: report.of, fields: { paused: true, by: 'attestation' } };
}

function toldBy(emitting: EmittingCall, books: TokenBooks, programId: Uint8Array): KnownEvent | null {
  const { name } = emitting.instruction;
  const args = argumentsOf(emitting);
  const ofProtocol = PROTOCOL_RULES[name]?.(args);
  if (ofProtocol) return { ...ofProtocol, of: null };
  const of = policyOfCall(emitting, books, programId);
  if (of === null) return null;
  const told = POLICY_RULES[name]?.({ ...emitting, books, args, of, programId });
  const { policy, mint, quoteMint } = of;
  return told ? { ...told, of: { policy, mint, quoteMint } } : null;
}

interface UndecidedCall {
  what: string[];
  /** Accounts of which one is the policy. */
  of: readonly Uint8Array[];
}

const given = ({ accounts }: Call): Uint8Array[] => accounts.map(({ address }) => address);

/**
 * The accounts that may be the call's policy: the one that the IDL names, for no instruction is about two, and a caller
 * may append other policies' accounts. Where the mint that the IDL names does not prove that one, as where an IDL
 * groups accounts, any of the call's accounts.
 */
function concerned({ call, named }: EmittingCall, programId: Uint8Array): Uint8Array[] {
  const [policy, mint] = [named('policy'), named('mint')];
  if (policy === undefined || mint === undefined) return given(call);
  return sameBytes(policyAddress(programId, mint), policy) ? [policy] : given(call);
}

/** Whether an event that is not decided may belong to a group. */
function mayHold({ what, of: accounts }: UndecidedCall, { event, of }: EventGroup): boolean {
  return what.includes(event) && (of === null || accounts.some((address) => sameBytes(address, of.policy)));
}

function ofCall({ what, of }: UndecidedCall): Undecided {
  return { what, accounts: of.map(encodeBase58) };
}

function ofGroup({ event, of, unknown }: EventGroup): Undecided[] {
  if (unknown.length === 0) return [];
  const accounts = of === null ? [] : [encodeBase58(of.policy)];
  return [{ what: unknown.map((name) => `${event}.${name}`), accounts }];
}

function together(all: readonly Undecided[]): Undecided | null {
  if (all.length === 0) return null;
  return {
    what: [...new Set(all.flatMap(({ what }) => what))],
    accounts: [...new Set(all.flatMap(({ accounts }) => accounts))],
  };
}
