import { encodeBase58 } from './base58.ts';
import { decodeEvent, eventKind, type ProgramEvent } from './events.ts';
import { discriminatorOf, INSTRUCTIONS_WITH_EVENT } from './idl.ts';
import { type Emission, logsCut, walkLogs } from './log-walk.ts';
import { MalformedError } from './malformed.ts';
import { type OwnCall, ownCalls } from './own-calls.ts';
import type { Account, Call, ChainTransaction } from './transaction-parts.ts';

export interface PlacedEvent {
  position: number;
  event: ProgramEvent;
}

export interface BadEvent {
  position: number;
  reason: string;
  bytes: Uint8Array;
}

/** What a transaction says of the program. */
export type Extract =
  | {
      status: 'whole';
      /** In execution order; `position` counts the program's events from 0, those that nobody knows too. */
      events: PlacedEvent[];
      /** Events of the program with a discriminator that nobody knows. */
      badEvents: BadEvent[];
      /** Accounts that a call of the program was given as writable, base58. */
      writable: string[];
    }
  | {
      status: 'incomplete';
      reason: string;
      /** An event came and does not decode; else the logs were cut and a later reading may be whole. */
      undecoded: boolean;
      /** Accounts of the calls whose events are missing, base58. */
      accounts: string[];
    };

/**
 * The program's events. A failed transaction has none. It is incomplete where an event of ours does not decode, or
 * where the logs were cut and a call that emits an event shows none.
 */
export function extractEvents(tx: ChainTransaction, programId: Uint8Array): Extract {
  if (tx.failed) return { status: 'whole', events: [], badEvents: [], writable: [] };
  const own = ownCalls(tx.calls, programId);
  const read = readEmissions(tx, own, programId);

  const undecoded = read.filter(({ event, known }) => event === null && known);
  const silent = logsCut(tx.logs) ? silentCalls(own, read) : [];
  if (undecoded.length + silent.length > 0) {
    const calls = [...undecoded.map(({ call }) => call), ...silent];
    return {
      status: 'incomplete',
      undecoded: undecoded.length > 0,
      reason: undecoded[0]?.reason ?? 'its logs were cut before an event of the program',
      accounts: accountsOf(
        calls.includes(undefined) ? own.map(({ call }) => call) : (calls as Call[]),
        () => true,
      ),
    };
  }
  const events: PlacedEvent[] = [];
  const badEvents: BadEvent[] = [];
  read.forEach(({ event, bytes, reason }, position) => {
    if (event === null) badEvents.push({ position, reason, bytes });
    else events.push({ position, event });
  });
  return {
    status: 'whole',
    events,
    badEvents,
    writable: accountsOf(
      own.map(({ call }) => call),
      ({ writable }) => writable,
    ),
  };
}

/** A process follows one program: its text is worked out once. */
const texts = new WeakMap<Uint8Array, string>();

function textOf(programId: Uint8Array): string {
  const text = texts.get(programId) ?? encodeBase58(programId);
  texts.set(programId, text);
  return text;
}

/** One thing that the program emitted, decoded or with the reason why not. */
export interface Read {
  event: ProgramEvent | null;
  bytes: Uint8Array;
  reason: string;
  /** Whether the discriminator is one of ours, or the line was spoilt. */
  known: boolean;
  call: Call | undefined;
}

/** What the program emitted, in execution order. @param own the program's calls among those of `tx`. */
export function readEmissions(tx: ChainTransaction, own: readonly OwnCall[], programId: Uint8Array): Read[] {
  return walkLogs(tx.logs ?? [], own, textOf(programId)).map(readEmission);
}

function readEmission({ bytes, call, whole }: Emission): Read {
  if (!whole) return { event: null, bytes, reason: 'a data line that is no base64', known: false, call };
  try {
    return { event: decodeEvent(bytes), bytes, reason: '', known: true, call };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return { event: null, bytes, reason: error.message, known: eventKind(bytes) !== null, call };
  }
}

/** Calls that emit an event and show none, or show a report that paused the policy without the pause. */
function silentCalls(own: readonly OwnCall[], read: readonly Read[]): Call[] {
  const heard = new Map<Call | undefined, ProgramEvent[]>();
  for (const { call, event } of read) {
    if (event !== null) heard.set(call, [...(heard.get(call) ?? []), event]);
  }
  return own
    .filter(
      ({ call }) =>
        INSTRUCTIONS_WITH_EVENT.has(discriminatorOf(call.data)) && !isWhole(heard.get(call) ?? []),
    )
    .map(({ call }) => call);
}

function isWhole(events: readonly ProgramEvent[]): boolean {
  const pauses = events.some(({ event, fields }) => event === 'RemoteEquityReported' && fields.paused);
  return events.length > 0 && (!pauses || events.some(({ event }) => event === 'PolicyPaused'));
}

function accountsOf(calls: readonly Call[], takes: (account: Account) => boolean): string[] {
  const seen = new Set<Account>();
  const found = new Set<string>();
  for (const { accounts } of calls) {
    for (const account of accounts) {
      // The calls of a transaction share its accounts.
      if (!takes(account) || seen.has(account)) continue;
      seen.add(account);
      found.add(encodeBase58(account.address));
    }
  }
  return [...found];
}
