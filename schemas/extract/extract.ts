import { MalformedError } from '../malformed.ts';
import type { ProgramEvent } from '../program/event-kinds.ts';
import { discriminatorOf, INSTRUCTIONS_WITH_EVENT } from '../program/idl.ts';
import { encodeBase58 } from '../solana/base58.ts';
import { eventsByCall, isWhole, type ReadEmission, readEmissions } from '../transaction/emissions.ts';
import { logsCut, ownCallsBegun } from '../transaction/log-walk.ts';
import { type OwnCall, ownCalls } from '../transaction/own-calls.ts';
import type { Account, Call, ChainTransaction } from '../transaction/parts.ts';
import { type DerivedEvent, derive, NO_PROFITS, type Profits, type Undecided } from './derive.ts';

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
      /** In execution order; `position` counts the program's events from 0, `badEvents` included. */
      events: PlacedEvent[];
      /** Events of the program with an unknown discriminator. */
      badEvents: BadEvent[];
      /** Accounts that a call of the program was given as writable, base58. */
      writable: string[];
    }
  | {
      /** Logs, or a line, were cut before an event's end: the rest tells the events. A later reading may be whole. */
      status: 'derived';
      events: DerivedEvent[];
      /** Null where the rest decides everything. */
      undecided: Undecided | null;
      badEvents: BadEvent[];
      writable: string[];
    }
  | {
      /** An event of the program came and does not decode. */
      status: 'undecoded';
      reason: string;
      /** Accounts of all calls of the program, base58: none of the transaction's events counts. */
      accounts: string[];
    };

/**
 * The program's events. A failed transaction has none. They are derived where the logs were cut and a call that emits
 * an event shows none.
 * @throws MalformedError where the logs begin more calls of the program than the payload holds.
 */
export function extractEvents(
  tx: ChainTransaction,
  programId: Uint8Array,
  profits: Profits = NO_PROFITS,
): Extract {
  if (tx.failed) return { status: 'whole', events: [], badEvents: [], writable: [] };
  const own = ownCalls(tx.calls, programId);
  const id = encodeBase58(programId);
  const begun = ownCallsBegun(tx.logs ?? [], id);
  if (begun > own.length)
    throw new MalformedError(
      'transaction',
      `its logs begin ${begun} calls of the program, and ${own.length} are told`,
    );
  const read = readEmissions(tx, own, programId);

  const undecoded = read.find(({ event, known }) => event === null && known);
  if (undecoded !== undefined) {
    const about = own.filter(({ event }) => event === null).map(({ call }) => call);
    return { status: 'undecoded', reason: undecoded.reason, accounts: accountsOf(about, () => true) };
  }
  const badEvents = read.flatMap(({ event, bytes, reason }, position) =>
    event === null ? [{ position, reason, bytes }] : [],
  );
  const writable = accountsOf(
    own.map(({ call }) => call),
    (account) => account.writable,
  );
  // A single line may be shortened on the way, too: then the call that printed it shows no event.
  const lacksLines = () => logsCut(tx.logs, own.length, id) || read.some(({ spoilt }) => spoilt);
  if (isSilent(own, read) && lacksLines())
    return { status: 'derived', ...derive(tx, own, read, programId, profits), badEvents, writable };
  const events = read.flatMap(({ event }, position) => (event === null ? [] : [{ position, event }]));
  return { status: 'whole', events, badEvents, writable };
}

/** Whether a call that emits shows nothing, or a report that paused the policy shows no pause. */
function isSilent(own: readonly OwnCall[], read: readonly ReadEmission[]): boolean {
  const heard = eventsByCall(read);
  return own.some(({ call }) => {
    const instruction = INSTRUCTIONS_WITH_EVENT.get(discriminatorOf(call.data));
    return instruction !== undefined && !isWhole(instruction, heard.get(call) ?? []);
  });
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
