import { iso } from './expected.ts';
import type { PlacedEvent } from './view.ts';

const KEEPER = [
  'Routed',
  'PassiveDeployed',
  'ProfitSwept',
  'BuybackBurned',
  'FeesClaimed',
  'BaseLegBurned',
] as const;
const AGENT = ['AgentFundedVenue', 'CreditNoted'] as const;
const PAUSER = ['authority', 'guardian', 'reporter'];

/** The role that the event's instruction requires. */
export function actorOf({ kind, fields }: PlacedEvent): string {
  if ((KEEPER as readonly string[]).includes(kind)) return 'keeper';
  if ((AGENT as readonly string[]).includes(kind)) return 'agent';
  if (kind === 'RemoteEquityReported') return 'reporter';
  if (kind === 'PolicyPaused') return PAUSER[fields.by as number] as string;
  return kind === 'ProtocolPaused' ? 'admin' : 'authority';
}

/** The fields that spec Part 6 lists; every other kind carries all of its own. */
const SUMMARY_FIELDS: Partial<Record<PlacedEvent['kind'], readonly string[]>> = {
  PolicyInitialised: ['mode'],
  VenueRegistered: ['kind', 'tokenAccount'],
  Routed: ['toLp', 'toBankroll'],
  PassiveDeployed: ['amount'],
  ProfitSwept: ['toLp', 'profit', 'toHolders'],
  BuybackBurned: ['spent', 'burned'],
};

const NAMES: Record<string, readonly string[]> = {
  mode: ['Passive', 'Agent'],
  kind: ['Local', 'Remote'],
  by: ['authority', 'guardian', 'attestation'],
};

function worded(name: string, value: unknown): unknown {
  if (name in NAMES) return NAMES[name]?.[value as number];
  if (name === 'asof') return iso(value as bigint);
  return typeof value === 'bigint' ? String(value) : value;
}

function summaryOf({ kind, fields }: PlacedEvent): Record<string, unknown> {
  const own = Object.keys(fields).filter((name) => !['policy', 'mint', 'quoteMint'].includes(name));
  return Object.fromEntries((SUMMARY_FIELDS[kind] ?? own).map((name) => [name, worded(name, fields[name])]));
}

/** All items of `/coins/:mint/activity`, newest first. */
export function activityItems(events: readonly PlacedEvent[]): object[] {
  return events
    .map((event) => ({
      kind: event.kind,
      actor: actorOf(event),
      summary: summaryOf(event),
      slot: String(event.slot),
      signature: event.signature,
      block_time: iso(event.blockTime),
    }))
    .reverse();
}
