import { MODES, VENUE_KINDS } from '../program/accounts.ts';
import { EVENT_KINDS, type EventKind } from '../program/event-kinds.ts';
import type { FieldValue, Struct } from '../program/struct.ts';
import type { Scene } from './instructions.ts';
import { bought, burnt, claimed, deployed, isOnAllowlist, routed, swept } from './money.ts';

/** What is known of an event that was not seen: fields that the transaction does not decide are not there. */
export interface PartialEvent {
  event: EventKind;
  fields: Partial<Record<string, FieldValue>>;
}

type Rule = (scene: Scene) => PartialEvent | null;

const REPEATING = Object.entries(EVENT_KINDS).flatMap(([event, { toldBy = {} }]) =>
  Object.entries<readonly string[]>(toldBy).map(([instruction, names]): [string, Rule] => [
    instruction,
    ({ args }) => told(event as EventKind, Object.fromEntries(names.map((name) => [name, args[name]]))),
  ]),
);

/** Which event each instruction emits, told from its call; null where it is not decided. */
export const POLICY_RULES: Partial<Record<string, Rule>> = {
  ...Object.fromEntries(REPEATING),
  init_policy: ({ args }) => told('PolicyInitialised', { mode: named(MODES, args.mode) }),
  register_venue_account: (scene) => {
    const kind = named(VENUE_KINDS, scene.args.kind);
    return withVenue('VenueRegistered', scene, kind === undefined ? null : { kind });
  },
  revoke_venue_account: (scene) => withVenue('VenueRevoked', scene, {}),
  claim_fees: (scene) => told('FeesClaimed', claimed(scene)),
  route: (scene) => told('Routed', routed(scene)),
  passive_deploy: (scene) => told('PassiveDeployed', deployed(scene)),
  agent_fund_venue: (scene) => told('AgentFundedVenue', deployed(scene)),
  sweep_profit: (scene) => told('ProfitSwept', swept(scene)),
  buyback_and_burn: (scene) => told('BuybackBurned', bought(scene)),
  burn_base_leg: (scene) => told('BaseLegBurned', burnt(scene)),
  report_remote_equity: (scene) => {
    const { equity, notional, asof } = scene.args;
    const whole = equity !== undefined && notional !== undefined && asof !== undefined;
    return withVenue('RemoteEquityReported', scene, whole ? { equity, notional, asof } : null);
  },
  set_paused: ({ args: { paused } }) => told('PolicyPaused', { paused, by: 'authority' }),
  guardian_pause: () => told('PolicyPaused', { paused: true, by: 'guardian' }),
};

/** The same for events that are of no policy. */
export const PROTOCOL_RULES: Partial<Record<string, (args: Struct) => PartialEvent | null>> = {
  set_protocol_paused: ({ paused }) => told('ProtocolPaused', { paused }),
};

function told(event: EventKind, fields: Record<string, FieldValue | undefined> | null): PartialEvent | null {
  if (fields === null || Object.values(fields).includes(undefined)) return null;
  return { event, fields };
}

const named = (names: readonly string[], value: FieldValue | undefined) => names[value as number];

/** The event with its token account; null unless the call was given that account's entry of the policy's allowlist. */
function withVenue(
  event: EventKind,
  scene: Scene,
  fields: Record<string, FieldValue> | null,
): PartialEvent | null {
  const tokenAccount = scene.named('token_account');
  if (fields === null || tokenAccount === undefined || !isOnAllowlist(scene, tokenAccount)) return null;
  return told(event, { ...fields, tokenAccount });
}
