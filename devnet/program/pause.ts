import { begin, type Call, emit, named, policyMetas, policyOf, signer, writable } from './call.ts';
import { found, must } from './errors.ts';
import type { Key } from './state.ts';

export const BY_AUTHORITY = 0;
export const BY_GUARDIAN = 1;
export const BY_ATTESTATION = 2;

/** The authority alone may also unpause. */
export function setPaused(call: Call, action: { mint: Key; by: Key; paused: boolean }): void {
  begin(call, 'set_paused', [action.paused], [signer(action.by), ...policyMetas(call, action.mint)]);
  const policy = policyOf(call, action.mint);
  must(action.by === policy.authority, 'NotAuthority');
  policy.paused = action.paused;
  emit(call, {
    kind: 'PolicyPaused',
    fields: { ...named(policy), paused: action.paused, by: BY_AUTHORITY },
  });
}

export function guardianPause(call: Call, action: { mint: Key; by: Key }): void {
  begin(call, 'guardian_pause', [], [signer(action.by), ...policyMetas(call, action.mint)]);
  const policy = policyOf(call, action.mint);
  must(action.by === policy.guardian, 'NotGuardian');
  policy.paused = true;
  emit(call, { kind: 'PolicyPaused', fields: { ...named(policy), paused: true, by: BY_GUARDIAN } });
}

export function setProtocolPaused(call: Call, action: { by: Key; paused: boolean }): void {
  const { address } = call.addresses.config;
  begin(call, 'set_protocol_paused', [action.paused], [signer(action.by), writable(address)]);
  must(found(call.draft.get('configs', address)).admin === action.by, 'NotAdmin');
  call.draft.edit('configs', address).paused = action.paused;
  emit(call, { kind: 'ProtocolPaused', fields: { paused: action.paused } });
}
