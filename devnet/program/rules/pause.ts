import { found, must } from '../errors.ts';
import {
  begin,
  emit,
  eventHead,
  type InstructionRun,
  policyMetas,
  policyOf,
  signer,
  writable,
} from '../instruction-run.ts';
import type { Key } from '../state/state.ts';

const BY_AUTHORITY = 0;
const BY_GUARDIAN = 1;
export const BY_ATTESTATION = 2;

/** Pauses or unpauses. Only the authority may unpause. */
function setPaused(run: InstructionRun, action: { mint: Key; by: Key; paused: boolean }): void {
  begin(run, 'set_paused', [action.paused], [signer(action.by), ...policyMetas(run, action.mint)]);
  const policy = policyOf(run, action.mint);
  must(action.by === policy.authority, 'NotAuthority');
  policy.paused = action.paused;
  emit(run, {
    kind: 'PolicyPaused',
    fields: { ...eventHead(policy), paused: action.paused, by: BY_AUTHORITY },
  });
}

function guardianPause(run: InstructionRun, action: { mint: Key; by: Key }): void {
  begin(run, 'guardian_pause', [], [signer(action.by), ...policyMetas(run, action.mint)]);
  const policy = policyOf(run, action.mint);
  must(action.by === policy.guardian, 'NotGuardian');
  policy.paused = true;
  emit(run, { kind: 'PolicyPaused', fields: { ...eventHead(policy), paused: true, by: BY_GUARDIAN } });
}

function setProtocolPaused(run: InstructionRun, action: { by: Key; paused: boolean }): void {
  const { address } = run.addresses.config;
  begin(run, 'set_protocol_paused', [action.paused], [signer(action.by), writable(address)]);
  must(found(run.draft.get('configs', address)).admin === action.by, 'NotAdmin');
  run.draft.edit('configs', address).paused = action.paused;
  emit(run, { kind: 'ProtocolPaused', fields: { paused: action.paused } });
}

export const PAUSE_INSTRUCTIONS = {
  set_protocol_paused: setProtocolPaused,
  set_paused: setPaused,
  guardian_pause: guardianPause,
};
