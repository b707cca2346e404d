import { type Instruction, type Meta, readonly } from '../program/instruction-run.ts';
import type { Addresses } from '../program/state/addresses.ts';
import { encodeEvent } from '../program/state/borsh.ts';
import type { TypedEvent } from '../program/state/events.ts';
import type { Random } from '../program/state/random.ts';
import type { Key } from '../program/state/state.ts';

/** An instruction as the runtime ran it: what it printed and what it called, in order. */
export interface Frame {
  program: Key;
  data: Uint8Array;
  metas: Meta[];
  body: (string | Frame)[];
  /** Precompiles print `nothing`; builtins print an `outline`, without compute units. */
  prints: 'all' | 'outline' | 'nothing';
}

/** `emit!` prints a log line, `emit_cpi!` calls the program itself; `mixed` chooses at random for each event. */
export type EventStyle = 'log' | 'cpi' | 'mixed';

/** First eight bytes of a self-CPI that carries an event. */
const EVENT_CPI_TAG = Buffer.from('e445a52e51cb9a1d', 'hex');

export function drawStyle(random: Random): EventStyle {
  const lot = random.next();
  return lot < 0.45 ? 'log' : lot < 0.9 ? 'cpi' : 'mixed';
}

/** What a program prints for an event given as bytes. */
export function dataLine(bytes: Uint8Array): string {
  return `Program data: ${Buffer.from(bytes).toString('base64')}`;
}

/** A program calling itself with an event. */
export function selfCall(program: Key, authority: Key, event: Uint8Array): Frame {
  return {
    program,
    data: new Uint8Array(Buffer.concat([EVENT_CPI_TAG, event])),
    metas: [{ key: authority, signer: true, writable: false }],
    body: [],
    prints: 'all',
  };
}

interface Emission {
  programId: Key;
  addresses: Addresses;
  style: EventStyle;
  random: Random;
}

function emission(event: TypedEvent, how: Emission): string | Frame {
  const bytes = encodeEvent(event);
  const logged = how.style === 'log' || (how.style === 'mixed' && how.random.chance(0.5));
  return logged ? dataLine(bytes) : selfCall(how.programId, how.addresses.eventAuthority, bytes);
}

/** The frame of an instruction and of everything it called. */
export function frameOf(instruction: Instruction, how: Emission): Frame {
  return {
    program: instruction.program,
    data: instruction.data,
    metas: instruction.metas,
    body: [
      `Program log: Instruction: ${instruction.name}`,
      ...instruction.steps.map((step) =>
        step.type === 'event' ? emission(step.event, how) : frameOf(step.instruction, how),
      ),
    ],
    prints: 'all',
  };
}

export function children(frame: Frame): Frame[] {
  return frame.body.filter((part) => typeof part !== 'string');
}

/**
 * Adds to the account list of each frame every account that its inner calls use: a program can only pass on accounts
 * that it was given. A program derived address signs inside the call, so the caller's list does not ask for it.
 */
export function handDown(frame: Frame): Frame {
  const body = frame.body.map((part) => (typeof part === 'string' ? part : handDown(part)));
  const used = new Map<Key, Meta>();
  for (const part of body) {
    if (typeof part === 'string') continue;
    for (const meta of [...part.metas, readonly(part.program)]) {
      const known = used.get(meta.key);
      used.set(meta.key, { ...meta, signer: false, writable: meta.writable || known?.writable === true });
    }
  }
  // A key may stand in an instruction's list more than once: the list keeps its order and its repetitions.
  const own = frame.metas.map((meta) =>
    used.get(meta.key)?.writable === true ? { ...meta, writable: true } : meta,
  );
  for (const { key } of own) used.delete(key);
  return { ...frame, metas: [...own, ...used.values()], body };
}
