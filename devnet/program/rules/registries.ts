import { must } from '../errors.ts';
import { begin, configOf, type InstructionRun, signer, writable } from '../instruction-run.ts';
import type { Key, ProtocolConfig } from '../state/state.ts';

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

/** Writes the config, once; no other instruction writes `minRiskForClass`. */
function initProtocol(
  run: InstructionRun,
  action: Omit<ProtocolConfig, 'address' | 'bump' | 'paused'>,
): void {
  const { address, bump } = run.addresses.config;
  begin(run, 'init_protocol', [], [signer(action.admin), writable(address)]);
  must(run.draft.get('configs', address) === undefined, 'AccountInUse');
  mustBeSound(action);
  const { admin, reporter, feeDestination, launchpadProgram, ammProgram, minRiskForClass } = action;
  run.draft.put('configs', {
    ...{ address, admin, reporter, feeDestination, launchpadProgram, ammProgram, minRiskForClass, bump },
    paused: false,
    protocolFeeBps: action.protocolFeeBps,
    maxBankrollBps: action.maxBankrollBps,
    maxDeviationBps: action.maxDeviationBps,
    maxRemoteStaleness: action.maxRemoteStaleness,
  });
}

function mustBeAdmin(run: InstructionRun, by: Key): void {
  must(configOf(run).admin === by, 'NotAdmin');
}

function setProtocolParams(run: InstructionRun, action: { by: Key; params: Partial<ProtocolParams> }): void {
  const { address } = run.addresses.config;
  begin(run, 'set_protocol_params', [], [signer(action.by), writable(address)]);
  mustBeAdmin(run, action.by);
  mustBeSound({ ...configOf(run), ...action.params });
  Object.assign(run.draft.edit('configs', address), action.params);
}

/** Origins are append-only. */
function registerOrigin(
  run: InstructionRun,
  action: { by: Key; id: number; name: string; assetClassMask: number; maxRisk: number },
): void {
  const { address, bump } = run.addresses.origin(action.id);
  begin(run, 'register_origin', [action.id & 255, action.id >> 8], [signer(action.by), writable(address)]);
  mustBeAdmin(run, action.by);
  must(run.draft.get('origins', address) === undefined, 'AccountInUse');
  const { id, name, assetClassMask, maxRisk } = action;
  run.draft.put('origins', { address, id, name, assetClassMask, maxRisk, bump });
}

/** Overwrites a model in place, so its `registeredAt` is the time of the last change. */
function registerModel(
  run: InstructionRun,
  action: { by: Key; id: number; name: string; provider: string; enabled: boolean },
): void {
  const { address, bump } = run.addresses.model(action.id);
  begin(run, 'register_model', [action.id & 255, action.id >> 8], [signer(action.by), writable(address)]);
  mustBeAdmin(run, action.by);
  const { id, name, provider, enabled } = action;
  run.draft.put('models', { address, id, name, provider, enabled, registeredAt: run.now, bump });
}

export const REGISTRY_INSTRUCTIONS = {
  init_protocol: initProtocol,
  set_protocol_params: setProtocolParams,
  register_origin: registerOrigin,
  register_model: registerModel,
};
