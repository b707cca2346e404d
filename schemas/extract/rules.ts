import { MODES, VENUE_KINDS } from '../program/accounts.ts';
import { EVENT_KINDS, type EventKind } from '../program/event-kinds.ts';
import type { FieldValue, Struct } from '../program/struct.ts';
import type { CallContext } from './instructions.ts';
import { bought, burnt, claimed, deployed, isOnAllowlist, routed, swept } from './money.ts';

/** What is known of an event that was not seen: fields that the transaction does not decide are not there. */
export interface PartialEvent {
  event: EventKind;
  fields: Partial<Record<string, FieldValue>>;
}

type Rule = (context: CallContext) => PartialEvent | null;

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
  register_venue_account: (context) => {
    const kind = named(VENUE_KINDS, context.args.kind);
    return withVenue('VenueRegistered', context, kind === undefined ? null : { kind });
  },
  revoke_venue_account: (context) => withVenue('VenueRevoked', context, {}),
  claim_fees: (context) => told('FeesClaimed', claimed(context)),
  route: (context) => told('Routed', routed(context)),
  passive_deploy: (context) => told('PassiveDeployed', deployed(context)),
  agent_fund_venue: (context) => told('AgentFundedVenue', deployed(context)),
  sweep_profit: (context) => told('ProfitSwept', swept(context)),
  buyback_and_burn: (context) => told('BuybackBurned', bought(context)),
  burn_base_leg: (context) => told('BaseLegBurned', burnt(context)),
  report_remote_equity: (context) => {
    const { equity, notional, asof } = context.args;
    const whole = equity !== undefined && notional !== undefined && asof !== undefined;
    return withVenue('RemoteEquityReported', context, whole ? { equity, notional, asof } : null);
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
  context: CallContext,
  fields: Record<string, FieldValue> | null,
): PartialEvent | null {
  const tokenAccount = context.named('token_account');
  if (fields === null || tokenAccount === undefined || !isOnAllowlist(context, tokenAccount)) return null;
  return told(event, { ...fields, tokenAccount });
}
