import { found, must } from '../errors.ts';
import {
  balanceOf,
  begin,
  emit,
  eventHead,
  type InstructionRun,
  mustRun,
  policyMetas,
  policyOf,
  readonly,
  signer,
  writable,
} from '../instruction-run.ts';
import { AGENT, type Key, PASSIVE, type Policy, REMOTE } from '../state/state.ts';
import { pairMetas, readDeployed, type VenuePair } from './equity.ts';
import { moveTokens } from './tokens.ts';

export interface Deploy {
  mint: Key;
  by: Key;
  tokenAccount: Key;
  amount: bigint;
  venues: readonly VenuePair[];
}

/** Opens either instruction: it writes the policy, the bankroll and the destination, and reads the venue set. */
function open(run: InstructionRun, name: string, action: Deploy): Policy {
  const at = run.addresses.ofPolicy(action.mint);
  const entry = run.addresses.venue(at.policy, action.tokenAccount).address;
  begin(
    run,
    name,
    [action.amount],
    [
      signer(action.by),
      readonly(run.addresses.config.address),
      ...policyMetas(run, action.mint),
      writable(at.bankroll),
      writable(entry),
      writable(action.tokenAccount),
      ...pairMetas(action.venues),
    ],
  );
  const policy = policyOf(run, action.mint);
  mustRun(run, policy);
  return policy;
}

/** Moves bankroll to a registered account, as far as risk allows. */
function deploy(run: InstructionRun, policy: Policy, action: Deploy): void {
  const at = run.addresses.ofPolicy(action.mint);
  const entry = run.addresses.venue(at.policy, action.tokenAccount).address;
  const venue = found(run.draft.get('venues', entry), 'VenueNotAllowed');
  must(!venue.revoked, 'VenueNotAllowed');
  const deployed = readDeployed(run, policy, action.venues);
  const equity = balanceOf(run, at.bankroll) + deployed;
  must(deployed + action.amount <= (equity * BigInt(policy.risk)) / 100n, 'RiskCapExceeded');
  must(run.draft.get('tokens', action.tokenAccount)?.mint === policy.quoteMint, 'WrongMint');
  moveTokens(run, {
    from: at.bankroll,
    to: action.tokenAccount,
    mint: policy.quoteMint,
    authority: at.policy,
    amount: action.amount,
  });
  if (venue.kind === REMOTE) run.draft.edit('venues', entry).bridgedOut += action.amount;
}

/** Anyone may deploy for a Passive policy. */
function passiveDeploy(run: InstructionRun, action: Deploy): void {
  const policy = open(run, 'passive_deploy', action);
  must(policy.mode === PASSIVE, 'WrongMode');
  deploy(run, policy, action);
  const { tokenAccount, amount } = action;
  emit(run, { kind: 'PassiveDeployed', fields: { ...eventHead(policy), tokenAccount, amount } });
}

/** The agent's one way to move funds: to an account the authority registered beforehand. */
function agentFundVenue(run: InstructionRun, action: Deploy): void {
  const policy = open(run, 'agent_fund_venue', action);
  must(policy.mode === AGENT, 'WrongMode');
  must(action.by === policy.agent, 'NotAgent');
  deploy(run, policy, action);
  const { tokenAccount, amount } = action;
  emit(run, { kind: 'AgentFundedVenue', fields: { ...eventHead(policy), tokenAccount, amount } });
}

export const DEPLOY_INSTRUCTIONS = { passive_deploy: passiveDeploy, agent_fund_venue: agentFundVenue };
