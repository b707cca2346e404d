import { found, must } from '../errors.ts';
import {
  begin,
  configOf,
  emit,
  eventHead,
  type InstructionRun,
  openTokenAccount,
  policyMetas,
  policyOf,
  readonly,
  signer,
  writable,
} from '../instruction-run.ts';
import type { Arguments } from '../state/borsh.ts';
import { bytesOf, ZERO_KEY } from '../state/keys.ts';
import { TOKEN_2022_PROGRAM } from '../state/known-programs.ts';
import { AGENT, type Key, type Policy } from '../state/state.ts';

/** What `init_policy` and `set_policy` both write. */
export interface PolicyTerms {
  toLpBps: number;
  toBankrollBps: number;
  profitToLpBps: number;
  profitToHoldersBps: number;
  profitToBankrollBps: number;
  risk: number;
  targetAsset: Key;
  targetLeverageX: number;
  modelId: number;
}

export interface InitPolicy extends PolicyTerms {
  mint: Key;
  quoteMint: Key;
  feeKeyMint: Key;
  authority: Key;
  agent: Key;
  guardian: Key;
  originId: number;
  mode: number;
}

const BPS = 10_000;

const u16 = (value: number): number[] => [value & 255, value >> 8];

/** The rules of both instructions, in the order they are checked. */
function mustBeSound(run: InstructionRun, terms: PolicyTerms, originId: number, mode: number): void {
  const origin = found(run.draft.get('origins', run.addresses.origin(originId).address), 'UnknownOrigin');
  must(terms.toLpBps + terms.toBankrollBps === BPS, 'SplitNotWhole');
  must(terms.toBankrollBps <= configOf(run).maxBankrollBps, 'BankrollShareTooHigh');
  const profit = terms.profitToLpBps + terms.profitToHoldersBps + terms.profitToBankrollBps;
  must(profit === BPS, 'ProfitSplitNotWhole');
  must(terms.risk <= origin.maxRisk, 'RiskAboveOrigin');
  must(terms.targetLeverageX >= 1 && terms.targetLeverageX <= 5, 'InvalidLeverage');
  if (mode !== AGENT) return;
  const model = run.draft.get('models', run.addresses.model(terms.modelId).address);
  must(model?.enabled === true, 'UnknownModel');
}

/** Creates the policy of a launched mint with its five token accounts, all of the base mint's token program. */
function initPolicy(run: InstructionRun, action: InitPolicy): void {
  const at = run.addresses.ofPolicy(action.mint);
  const origin = run.addresses.origin(action.originId).address;
  begin(
    run,
    'init_policy',
    [...u16(action.originId), action.mode, ...u16(action.modelId), action.risk],
    [
      signer(action.authority),
      writable(at.policy),
      readonly(action.mint),
      readonly(action.quoteMint),
      readonly(origin),
      readonly(run.addresses.config.address),
      ...[at.bankroll, at.quoteEscrow, at.baseEscrow, at.holderRewards, at.lpQuote].map(writable),
    ],
  );
  must(run.draft.get('policies', at.policy) === undefined, 'AccountInUse');
  found(run.draft.get('mints', action.mint));
  mustBeSound(run, action, action.originId, action.mode);
  const quote = found(run.draft.get('mints', action.quoteMint));
  must(quote.program === TOKEN_2022_PROGRAM, 'WrongTokenProgram');
  const { originId, mode, ...rest } = action;
  const policy: Policy = {
    ...onlyPolicyFields(rest),
    address: at.policy,
    origin,
    originId,
    mode,
    agent: mode === AGENT ? action.agent : ZERO_KEY,
    modelId: mode === AGENT ? action.modelId : 0,
    locked: false,
    paused: false,
    feesClaimed: 0n,
    protocolFees: 0n,
    routedToLp: 0n,
    routedToBankroll: 0n,
    profitSwept: 0n,
    paidToHolders: 0n,
    tokensBurned: 0n,
    creditSpent: 0n,
    hwm: 0n,
    venueCount: 0,
    createdAt: run.now,
    bump: at.bump,
  };
  run.draft.put('policies', policy);
  for (const address of [at.bankroll, at.quoteEscrow, at.holderRewards, at.lpQuote]) {
    openTokenAccount(run, { address, mint: action.quoteMint, owner: at.policy });
  }
  openTokenAccount(run, { address: at.baseEscrow, mint: action.mint, owner: at.policy });
  emit(run, {
    kind: 'PolicyInitialised',
    fields: {
      ...eventHead(policy),
      authority: policy.authority,
      agent: policy.agent,
      originId,
      modelId: policy.modelId,
      mode,
    },
  });
}

function onlyPolicyFields(action: Omit<InitPolicy, 'originId' | 'mode'>) {
  return {
    mint: action.mint,
    quoteMint: action.quoteMint,
    feeKeyMint: action.feeKeyMint,
    authority: action.authority,
    guardian: action.guardian,
    ...termsOf(action),
  };
}

function termsOf(terms: PolicyTerms): Omit<PolicyTerms, 'modelId'> {
  return {
    toLpBps: terms.toLpBps,
    toBankrollBps: terms.toBankrollBps,
    profitToLpBps: terms.profitToLpBps,
    profitToHoldersBps: terms.profitToHoldersBps,
    profitToBankrollBps: terms.profitToBankrollBps,
    risk: terms.risk,
    targetAsset: terms.targetAsset,
    targetLeverageX: terms.targetLeverageX,
  };
}

/** Begins an instruction that only the authority may give. */
function byAuthority(run: InstructionRun, name: string, mint: Key, by: Key, args: Arguments = []): Policy {
  begin(run, name, args, [signer(by), ...policyMetas(run, mint)]);
  const policy = policyOf(run, mint);
  must(by === policy.authority, 'NotAuthority');
  return policy;
}

function setPolicy(run: InstructionRun, action: { mint: Key; by: Key; terms: PolicyTerms }): void {
  const policy = byAuthority(run, 'set_policy', action.mint, action.by, [action.terms.risk]);
  must(!policy.locked, 'PolicyLocked');
  mustBeSound(run, action.terms, policy.originId, policy.mode);
  Object.assign(policy, termsOf(action.terms));
  if (policy.mode === AGENT) policy.modelId = action.terms.modelId;
  emit(run, { kind: 'PolicyUpdated', fields: eventHead(policy) });
}

function lockPolicy(run: InstructionRun, action: { mint: Key; by: Key }): void {
  const policy = byAuthority(run, 'lock_policy', action.mint, action.by);
  policy.locked = true;
  emit(run, { kind: 'PolicyLocked', fields: eventHead(policy) });
}

/** Allowed on a locked policy too; the zero key removes the agent. */
function setAgent(run: InstructionRun, action: { mint: Key; by: Key; agent: Key }): void {
  const policy = byAuthority(run, 'set_agent', action.mint, action.by, [...bytesOf(action.agent)]);
  const oldAgent = policy.agent;
  policy.agent = action.agent;
  emit(run, { kind: 'AgentSet', fields: { ...eventHead(policy), oldAgent, newAgent: action.agent } });
}

export const POLICY_INSTRUCTIONS = {
  init_policy: initPolicy,
  set_policy: setPolicy,
  lock_policy: lockPolicy,
  set_agent: setAgent,
};
