import { eventAuthority } from '../solana/pda.ts';
import type { Call } from './parts.ts';

/** A call of the program, in the tree of all calls. */
export interface OwnCall {
  call: Call;
  /** The call that made it; undefined at top level. */
  caller: Call | undefined;
  /** Of a self-call that carries an event (`emit_cpi!`): the event. */
  event: Uint8Array | null;
}

const TAG = Uint8Array.of(0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d);

/** The program's calls in execution order. */
export function ownCalls(calls: readonly Call[], programId: Uint8Array): OwnCall[] {
  const own: OwnCall[] = [];
  const path: Call[] = [];
  for (const call of calls) {
    path[call.depth - 1] = call;
    if (!sameBytes(call.program, programId)) continue;
    const caller = path[call.depth - 2];
    own.push({ call, caller, event: caller === undefined ? null : eventOf(call, programId) });
  }
  return own;
}

function eventOf({ data, accounts }: Call, programId: Uint8Array): Uint8Array | null {
  const [only] = accounts;
  if (accounts.length !== 1 || only === undefined || data.length < TAG.length) return null;
  for (let at = 0; at < TAG.length; at += 1) if (data[at] !== TAG[at]) return null;
  return sameBytes(only.address, eventAuthority(programId)) ? data.subarray(TAG.length) : null;
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}
