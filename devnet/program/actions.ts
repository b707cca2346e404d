import type { Report } from './attestation.ts';
import { reportRemoteEquity } from './attestation.ts';
import { burnBaseLeg, buybackAndBurn } from './burn.ts';
import { noteCredit } from './credit.ts';
import { agentFundVenue, type Deploy, passiveDeploy } from './deploy.ts';
import { claimFees, compoundLp, route } from './fees.ts';
import type { InstructionRun } from './instruction-run.ts';
import { issueMint } from './mints.ts';
import { guardianPause, setPaused, setProtocolPaused } from './pause.ts';
import { initPolicy, lockPolicy, setAgent, setPolicy } from './policy.ts';
import { closePool, createCurve, createLaunch, migratePool, tradePool } from './pools.ts';
import { sweepProfit } from './profit.ts';
import { initProtocol, registerModel, registerOrigin, setProtocolParams } from './registries.ts';
import { closeTokenAccount, transfer } from './tokens.ts';
import { registerVenue, revokeVenue } from './venues.ts';

/** Every instruction a local chain runs: the bankroll program's own, then the world around it. */
export const INSTRUCTIONS = {
  init_protocol: initProtocol,
  set_protocol_params: setProtocolParams,
  set_protocol_paused: setProtocolPaused,
  register_origin: registerOrigin,
  register_model: registerModel,
  init_policy: initPolicy,
  set_policy: setPolicy,
  lock_policy: lockPolicy,
  set_agent: setAgent,
  set_paused: setPaused,
  guardian_pause: guardianPause,
  register_venue_account: registerVenue,
  revoke_venue_account: revokeVenue,
  claim_fees: claimFees,
  route,
  compound_lp: compoundLp,
  passive_deploy: passiveDeploy as (run: InstructionRun, action: Deploy) => void,
  agent_fund_venue: agentFundVenue as (run: InstructionRun, action: Deploy) => void,
  report_remote_equity: reportRemoteEquity as (run: InstructionRun, action: Report) => void,
  sweep_profit: sweepProfit,
  buyback_and_burn: buybackAndBurn,
  burn_base_leg: burnBaseLeg,
  note_credit: noteCredit,
  issue_mint: issueMint,
  create_curve: createCurve,
  create_launch: createLaunch,
  trade_pool: tradePool,
  migrate_pool: migratePool,
  close_pool: closePool,
  transfer,
  close_token_account: closeTokenAccount,
};

export type ActionKind = keyof typeof INSTRUCTIONS;
/** One instruction and what it is given. */
export type SingleAction = {
  [K in ActionKind]: { kind: K } & Parameters<(typeof INSTRUCTIONS)[K]>[1];
}[ActionKind];
/** What becomes one transaction: an instruction, or several that stand and fall together. */
export type Action = SingleAction | { kind: 'batch'; actions: readonly SingleAction[] };
