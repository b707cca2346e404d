import { type Meta, readonly } from '../program/instruction-run.ts';
import type { Addresses } from '../program/state/addresses.ts';
import { encodeEvent } from '../program/state/borsh.ts';
import type { TypedEvent } from '../program/state/events.ts';
import { seededKey } from '../program/state/keys.ts';
import {
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
  LAUNCHPAD_PROGRAM,
  NOISE_PROGRAM,
  ROUTER_PROGRAM,
} from '../program/state/known-programs.ts';
import type { Random } from '../program/state/random.ts';
import type { Key } from '../program/state/state.ts';
import { dataLine, type Frame, selfCall } from './frames.ts';

/** An event that would count if the bankroll program had emitted it. */
function lookAlike(random: Random): Uint8Array {
  const named = {
    policy: seededKey('nobody:policy'),
    mint: seededKey('nobody:mint'),
    quoteMint: seededKey('nobody:quote'),
  };
  const event: TypedEvent = random.chance(0.5)
    ? { kind: 'Routed', fields: { ...named, amount: 900n, protocolCut: 45n, toLp: 400n, toBankroll: 455n } }
    : { kind: 'FeesClaimed', fields: { ...named, quoteAmount: 77n, baseAmount: 5n } };
  return encodeEvent(event);
}

/** A foreign program that prints and calls itself exactly as the bankroll program would. */
export function lookAlikeFrame(random: Random, addresses: Addresses, metas: Meta[] = []): Frame {
  return {
    program: NOISE_PROGRAM,
    data: Uint8Array.of(random.int(0, 255)),
    metas: [...metas, readonly(addresses.eventAuthority)],
    body: [
      'Program log: Instruction: Route',
      dataLine(lookAlike(random)),
      `Program log: ${dataLine(lookAlike(random))}`,
      ...(random.chance(0.5) ? [selfCall(NOISE_PROGRAM, addresses.eventAuthority, lookAlike(random))] : []),
    ],
    prints: 'all',
  };
}

/** Instructions that wallets put first: compute budget, and sometimes a signature check that prints nothing. */
export function prelude(random: Random): Frame[] {
  const frames: Frame[] = [];
  if (random.chance(0.6)) {
    const data = Uint8Array.of(2, 0, 53, 12, 0);
    frames.push({ program: COMPUTE_BUDGET_PROGRAM, data, metas: [], body: [], prints: 'outline' });
  }
  if (random.chance(0.12)) {
    frames.push({
      program: ED25519_PROGRAM,
      data: new Uint8Array(112),
      metas: [],
      body: [],
      prints: 'nothing',
    });
  }
  return frames;
}

/** Adds the launchpad's own events to every call of it in the frame. */
export function withLaunchpadEvents(frame: Frame, random: Random): Frame {
  const body = frame.body.map((part) =>
    typeof part === 'string' ? part : withLaunchpadEvents(part, random),
  );
  if (frame.program !== LAUNCHPAD_PROGRAM) return { ...frame, body };
  const own = random.chance(0.5)
    ? dataLine(Uint8Array.of(0xbd, 0xdb, 0x7f, 0xd3, 0x4e, 0xe6, 0x61, 0xee, 1, 2, 3, 4))
    : selfCall(LAUNCHPAD_PROGRAM, seededKey('launchpad-event-authority'), new Uint8Array(24).fill(9));
  return { ...frame, body: [...body, own] };
}

/** Another program in front of the bankroll program, with or without a look-alike of its own before or after. */
export function routed(frame: Frame, random: Random, addresses: Addresses, failed: boolean): Frame {
  const before = random.chance(0.15) ? [lookAlikeFrame(random, addresses)] : [];
  const after =
    !failed && random.chance(0.15) ? [dataLine(lookAlike(random)), lookAlikeFrame(random, addresses)] : [];
  return {
    program: ROUTER_PROGRAM,
    data: Uint8Array.of(9, random.int(0, 255)),
    metas: frame.metas,
    body: ['Program log: Instruction: Forward', ...before, frame, ...after],
    prints: 'all',
  };
}

/** A transaction that names the bankroll program among its accounts and never calls it. */
export function mention(programId: Key, random: Random, addresses: Addresses): Frame {
  return lookAlikeFrame(random, addresses, [readonly(programId)]);
}
