import { ATTESTATION_INSTRUCTIONS } from './rules/attestation.ts';
import { BURN_INSTRUCTIONS } from './rules/burn.ts';
import { CREDIT_INSTRUCTIONS } from './rules/credit.ts';
import { DEPLOY_INSTRUCTIONS } from './rules/deploy.ts';
import { FEE_INSTRUCTIONS } from './rules/fees.ts';
import { MINT_INSTRUCTIONS } from './rules/mints.ts';
import { PAUSE_INSTRUCTIONS } from './rules/pause.ts';
import { POLICY_INSTRUCTIONS } from './rules/policy.ts';
import { POOL_INSTRUCTIONS } from './rules/pools.ts';
import { PROFIT_INSTRUCTIONS } from './rules/profit.ts';
import { REGISTRY_INSTRUCTIONS } from './rules/registries.ts';
import { TOKEN_INSTRUCTIONS } from './rules/tokens.ts';
import { VENUE_INSTRUCTIONS } from './rules/venues.ts';

/** Every instruction a local chain runs: the bankroll program's own, then the world around it. */
export const INSTRUCTIONS = {
  ...REGISTRY_INSTRUCTIONS,
  ...POLICY_INSTRUCTIONS,
  ...PAUSE_INSTRUCTIONS,
  ...VENUE_INSTRUCTIONS,
  ...FEE_INSTRUCTIONS,
  ...DEPLOY_INSTRUCTIONS,
  ...ATTESTATION_INSTRUCTIONS,
  ...PROFIT_INSTRUCTIONS,
  ...BURN_INSTRUCTIONS,
  ...CREDIT_INSTRUCTIONS,
  ...MINT_INSTRUCTIONS,
  ...POOL_INSTRUCTIONS,
  ...TOKEN_INSTRUCTIONS,
};

export type ActionKind = keyof typeof INSTRUCTIONS;
/** One instruction and what it is given. */
export type SingleAction = {
  [K in ActionKind]: { kind: K } & Parameters<(typeof INSTRUCTIONS)[K]>[1];
}[ActionKind];
/** What becomes one transaction: an instruction, or several that succeed or fail together. */
export type Action = SingleAction | { kind: 'batch'; actions: readonly SingleAction[] };
