import { begin, type Call, configOf, signer, writable } from './call.ts';
import { must } from './errors.ts';
import type { Key, ProtocolConfig } from './state.ts';

const MAX_PROTOCOL_FEE_BPS = 2000;
const MAX_BPS = 10_000;

export type ProtocolParams = Pick<
  ProtocolConfig,
  | 'reporter'
  | 'feeDestination'
  | 'protocolFeeBps'
  | 'maxBankrollBps'
  | 'maxDeviationBps'
  | 'maxRemoteStaleness'
>;

function mustBeSound(params: ProtocolParams): void {
  must(params.protocolFeeBps <= MAX_PROTOCOL_FEE_BPS, 'BpsOutOfRange');
  must(params.maxBankrollBps <= MAX_BPS && params.maxDeviationBps <= MAX_BPS, 'BpsOutOfRange');
}

/** Written once; the least risk per class has no other instruction that writes it. */
export function initProtocol(call: Call, action: Omit<ProtocolConfig, 'address' | 'bump' | 'paused'>): void {
  const { address, bump } = call.addresses.config;
  begin(call, 'init_protocol', [], [signer(action.admin), writable(address)]);
  must(call.draft.get('configs', address) === undefined, 'AccountInUse');
  mustBeSound(action);
  const { admin, reporter, feeDestination, launchpadProgram, ammProgram, minRiskForClass } = action;
  call.draft.put('configs', {
    ...{ address, admin, reporter, feeDestination, launchpadProgram, ammProgram, minRiskForClass, bump },
    paused: false,
    protocolFeeBps: action.protocolFeeBps,
    maxBankrollBps: action.maxBankrollBps,
    maxDeviationBps: action.maxDeviationBps,
    maxRemoteStaleness: action.maxRemoteStaleness,
  });
}

function mustBeAdmin(call: Call, by: Key): void {
  must(configOf(call).admin === by, 'NotAdmin');
}

export function setProtocolParams(call: Call, action: { by: Key; params: Partial<ProtocolParams> }): void {
  const { address } = call.addresses.config;
  begin(call, 'set_protocol_params', [], [signer(action.by), writable(address)]);
  mustBeAdmin(call, action.by);
  mustBeSound({ ...configOf(call), ...action.params });
  Object.assign(call.draft.edit('configs', address), action.params);
}

/** Origins are append-only. */
export function registerOrigin(
  call: Call,
  action: { by: Key; id: number; name: string; assetClassMask: number; maxRisk: number },
): void {
  const { address, bump } = call.addresses.origin(action.id);
  begin(call, 'register_origin', [action.id & 255, action.id >> 8], [signer(action.by), writable(address)]);
  mustBeAdmin(call, action.by);
  must(call.draft.get('origins', address) === undefined, 'AccountInUse');
  const { id, name, assetClassMask, maxRisk } = action;
  call.draft.put('origins', { address, id, name, assetClassMask, maxRisk, bump });
}

/** Overwrites in place, which is why the time is that of the last change. */
export function registerModel(
  call: Call,
  action: { by: Key; id: number; name: string; provider: string; enabled: boolean },
): void {
  const { address, bump } = call.addresses.model(action.id);
  begin(call, 'register_model', [action.id & 255, action.id >> 8], [signer(action.by), writable(address)]);
  mustBeAdmin(call, action.by);
  const { id, name, provider, enabled } = action;
  call.draft.put('models', { address, id, name, provider, enabled, registeredAt: call.now, bump });
}
