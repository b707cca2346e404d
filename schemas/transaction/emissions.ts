import { MalformedError } from '../malformed.ts';
import type { ProgramEvent } from '../program/event-kinds.ts';
import { decodeEvent, eventKind } from '../program/events.ts';
import { discriminatorOf, type IdlInstruction } from '../program/idl.ts';
import { encodeBase58 } from '../solana/base58.ts';
import { type Emission, walkLogs } from './log-walk.ts';
import type { OwnCall } from './own-calls.ts';
import type { Call, ChainTransaction } from './parts.ts';

/** A process follows one program, whose base58 text is worked out once. */
const texts = new WeakMap<Uint8Array, string>();

function textOf(programId: Uint8Array): string {
  const text = texts.get(programId) ?? encodeBase58(programId);
  texts.set(programId, text);
  return text;
}

/** One thing that the program emitted, decoded or with the reason why not. */
export interface ReadEmission {
  event: ProgramEvent | null;
  bytes: Uint8Array;
  reason: string;
  /** Whether the discriminator is one of ours. */
  known: boolean;
  /** Whether it is shorter than a discriminator, or its line is no base64: which event it was cannot be told. */
  spoilt: boolean;
  call: Call | undefined;
}

/** What the program emitted, in execution order. @param own the program's calls among those of `tx`. */
export function readEmissions(
  tx: Pick<ChainTransaction, 'logs'>,
  own: readonly OwnCall[],
  programId: Uint8Array,
): ReadEmission[] {
  return walkLogs(tx.logs ?? [], own, textOf(programId)).map(readEmission);
}

function readEmission({ bytes, call, whole }: Emission): ReadEmission {
  if (!whole) {
    const reason = 'a data line that is no base64';
    return { event: null, bytes, reason, known: false, spoilt: true, call };
  }
  try {
    return { event: decodeEvent(bytes), bytes, reason: '', known: true, spoilt: false, call };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    const known = eventKind(bytes) !== null;
    return { event: null, bytes, reason: error.message, known, spoilt: discriminatorOf(bytes) === '', call };
  }
}

/** The events that each call showed. */
export function eventsByCall(read: readonly ReadEmission[]): Map<Call | undefined, ProgramEvent[]> {
  const heard = new Map<Call | undefined, ProgramEvent[]>();
  for (const { call, event } of read) {
    if (event !== null) heard.set(call, [...(heard.get(call) ?? []), event]);
  }
  return heard;
}

/** Whether a call showed all that it emitted: its instruction's event, and the pause that a report says it made. */
export function isWhole({ emits }: IdlInstruction, events: readonly ProgramEvent[]): boolean {
  return events.some(({ event }) => event === emits[0]) && !lacksPause(events);
}

export function lacksPause(events: readonly ProgramEvent[]): boolean {
  const pauses = events.some(({ event, fields }) => event === 'RemoteEquityReported' && fields.paused);
  return pauses && !events.some(({ event }) => event === 'PolicyPaused');
}
