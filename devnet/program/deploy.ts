import {
  balanceOf,
  begin,
  type Call,
  emit,
  mustRun,
  named,
  policyMetas,
  policyOf,
  readonly,
  signer,
  writable,
} from './call.ts';
import { pairMetas, readDeployed, type VenuePair } from './equity.ts';
import { found, must } from './errors.ts';
import { AGENT, type Key, PASSIVE, type Policy, REMOTE } from './state.ts';
import { moveTokens } from './tokens.ts';

export interface Deploy {
  mint: Key;
  by: Key;
  tokenAccount: Key;
  amount: bigint;
  venues: readonly VenuePair[];
}

/** Opens either instruction: it writes the policy, the bankroll and the destination, and reads the venue set. */
function open(call: Call, name: string, action: Deploy): Policy {
  const at = call.addresses.ofPolicy(action.mint);
  const entry = call.addresses.venue(at.policy, action.tokenAccount).address;
  begin(
    call,
    name,
    [action.amount],
    [
      signer(action.by),
      readonly(call.addresses.config.address),
      ...policyMetas(call, action.mint),
      writable(at.bankroll),
      writable(entry),
      writable(action.tokenAccount),
      ...pairMetas(action.venues),
    ],
  );
  const policy = policyOf(call, action.mint);
  mustRun(call, policy);
  return policy;
}

/** Moves bankroll to a registered account, as far as risk allows. */
function deploy(call: Call, policy: Policy, action: Deploy): void {
  const at = call.addresses.ofPolicy(action.mint);
  const entry = call.addresses.venue(at.policy, action.tokenAccount).address;
  const venue = found(call.draft.get('venues', entry), 'VenueNotAllowed');
  must(!venue.revoked, 'VenueNotAllowed');
  const deployed = readDeployed(call, policy, action.venues);
  const equity = balanceOf(call, at.bankroll) + deployed;
  must(deployed + action.amount <= (equity * BigInt(policy.risk)) / 100n, 'RiskCapExceeded');
  must(call.draft.get('tokens', action.tokenAccount)?.mint === policy.quoteMint, 'WrongMint');
  moveTokens(call, {
    from: at.bankroll,
    to: action.tokenAccount,
    mint: policy.quoteMint,
    authority: at.policy,
    amount: action.amount,
  });
  if (venue.kind === REMOTE) call.draft.edit('venues', entry).bridgedOut += action.amount;
}

/** Anyone may deploy for a Passive policy. */
export function passiveDeploy(call: Call, action: Deploy): void {
  const policy = open(call, 'passive_deploy', action);
  must(policy.mode === PASSIVE, 'WrongMode');
  deploy(call, policy, action);
  const { tokenAccount, amount } = action;
  emit(call, { kind: 'PassiveDeployed', fields: { ...named(policy), tokenAccount, amount } });
}

/** The agent's one way to move funds: to an account the authority registered beforehand. */
export function agentFundVenue(call: Call, action: Deploy): void {
  const policy = open(call, 'agent_fund_venue', action);
  must(policy.mode === AGENT, 'WrongMode');
  must(action.by === policy.agent, 'NotAgent');
  deploy(call, policy, action);
  const { tokenAccount, amount } = action;
  emit(call, { kind: 'AgentFundedVenue', fields: { ...named(policy), tokenAccount, amount } });
}
