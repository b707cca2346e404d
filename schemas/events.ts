import { checkAssetClass, MODES, type Mode, nameOf, VENUE_KINDS, type VenueKind } from './accounts.ts';
import { encodeBase58 } from './base58.ts';
import { discriminatorOf, EVENTS } from './idl.ts';
import { MalformedError } from './malformed.ts';
import { type FieldValue, type Struct, structReader } from './struct.ts';
import { isoTime } from './units.ts';

export type PausedBy = 'authority' | 'guardian' | 'attestation';
export type Actor = 'authority' | 'keeper' | 'agent' | 'reporter' | 'guardian' | 'admin';

interface EventFields {
  PolicyInitialised: {
    authority: Uint8Array;
    agent: Uint8Array;
    originId: number;
    modelId: number;
    mode: Mode;
  };
  VenueRegistered: { tokenAccount: Uint8Array; assetMint: Uint8Array; kind: VenueKind; assetClass: number };
  VenueRevoked: { tokenAccount: Uint8Array };
  FeesClaimed: { quoteAmount: bigint; baseAmount: bigint };
  Routed: { amount: bigint; protocolCut: bigint; toLp: bigint; toBankroll: bigint };
  PassiveDeployed: { tokenAccount: Uint8Array; amount: bigint };
  AgentFundedVenue: { tokenAccount: Uint8Array; amount: bigint };
  ProfitSwept: { equity: bigint; profit: bigint; toLp: bigint; toHolders: bigint; hwm: bigint };
  BuybackBurned: { spent: bigint; burned: bigint };
  BaseLegBurned: { burned: bigint };
  RemoteEquityReported: {
    tokenAccount: Uint8Array;
    equity: bigint;
    notional: bigint;
    asof: bigint;
    paused: boolean;
  };
  CreditNoted: { amount: bigint };
  AgentSet: { oldAgent: Uint8Array; newAgent: Uint8Array };
  PolicyUpdated: Record<never, never>;
  PolicyLocked: Record<never, never>;
  PolicyPaused: { paused: boolean; by: PausedBy };
}

export type PolicyEventKind = keyof EventFields;
export type EventKind = PolicyEventKind | 'ProtocolPaused';

interface OfPolicy {
  policy: Uint8Array;
  mint: Uint8Array;
  quoteMint: Uint8Array;
}

/** An event of one policy. Keys are 32 raw bytes, amounts bigint in base units, times unix seconds. */
export type PolicyEvent = {
  [K in PolicyEventKind]: { event: K; of: OfPolicy; fields: EventFields[K] };
}[PolicyEventKind];

export type ProgramEvent = PolicyEvent | { event: 'ProtocolPaused'; of: null; fields: { paused: boolean } };

const PAUSED_BY: readonly PausedBy[] = ['authority', 'guardian', 'attestation'];

/** The role that the instruction requires, by event. */
const ACTORS: Record<Exclude<EventKind, 'PolicyPaused'>, Actor> = {
  PolicyInitialised: 'authority',
  VenueRegistered: 'authority',
  VenueRevoked: 'authority',
  FeesClaimed: 'keeper',
  Routed: 'keeper',
  PassiveDeployed: 'keeper',
  AgentFundedVenue: 'agent',
  ProfitSwept: 'keeper',
  BuybackBurned: 'keeper',
  BaseLegBurned: 'keeper',
  RemoteEquityReported: 'reporter',
  CreditNoted: 'agent',
  AgentSet: 'authority',
  PolicyUpdated: 'authority',
  PolicyLocked: 'authority',
  ProtocolPaused: 'admin',
};

const PAUSE_ACTORS: Record<PausedBy, Actor> = {
  authority: 'authority',
  guardian: 'guardian',
  attestation: 'reporter',
};

const EVENT_HEAD: ReadonlySet<string> = new Set(['policy', 'mint', 'quoteMint']);

interface Reader {
  name: EventKind;
  /** Null for the one event that is of no policy. */
  of: ((bytes: Uint8Array) => Struct) | null;
  fields: (bytes: Uint8Array) => Struct;
}

const readers = new Map<string, Reader>(
  [...EVENTS].map(([discriminator, name]) => [
    discriminator,
    {
      name: name as EventKind,
      of: name === 'ProtocolPaused' ? null : structReader(name, {}, (key) => EVENT_HEAD.has(key)),
      fields: structReader(name, {}, (key) => !EVENT_HEAD.has(key)),
    },
  ]),
);

/** The name of the event that these bytes claim to be, or null for an unknown discriminator. */
export function eventKind(bytes: Uint8Array): EventKind | null {
  return readers.get(discriminatorOf(bytes))?.name ?? null;
}

/**
 * Reads an event: discriminator, then Borsh.
 * @throws MalformedError for an unknown discriminator or fields that do not decode.
 */
export function decodeEvent(bytes: Uint8Array): ProgramEvent {
  const reader = readers.get(discriminatorOf(bytes));
  if (reader === undefined) throw new MalformedError('event', 'unknown discriminator');
  const { name } = reader;
  const fields = reader.fields(bytes);
  if (name === 'PolicyInitialised') fields.mode = nameOf(MODES, fields.mode, 'PolicyInitialised.mode');
  else if (name === 'PolicyPaused') fields.by = nameOf(PAUSED_BY, fields.by, 'PolicyPaused.by');
  else if (name === 'VenueRegistered') {
    fields.kind = nameOf(VENUE_KINDS, fields.kind, 'VenueRegistered.kind');
    checkAssetClass(fields.assetClass as number, 'VenueRegistered.asset_class');
  }
  return { event: name, of: reader.of === null ? null : reader.of(bytes), fields } as unknown as ProgramEvent;
}

/** The role that the event's instruction requires; not a recorded signer. */
export function actorOf(event: ProgramEvent): Actor {
  return event.event === 'PolicyPaused' ? PAUSE_ACTORS[event.fields.by] : ACTORS[event.event];
}

/** The fields that the summary of a kind shows where spec part 6 tabulates them; all fields elsewhere. */
const SUMMARY_FIELDS: Partial<Record<EventKind, readonly string[]>> = {
  PolicyInitialised: ['mode'],
  VenueRegistered: ['kind', 'tokenAccount'],
  Routed: ['toLp', 'toBankroll'],
  PassiveDeployed: ['amount'],
  ProfitSwept: ['toLp', 'profit', 'toHolders'],
};

export type Summary = Record<string, string | number | boolean>;

/** What `/coins/:mint/activity` shows of an event: amounts as decimal strings, keys base58, times ISO 8601. */
export function summaryOf(event: ProgramEvent): Summary {
  const fields = event.fields as Record<string, FieldValue>;
  const summary: Summary = {};
  for (const name of SUMMARY_FIELDS[event.event] ?? Object.keys(fields)) {
    summary[name] = shown(name, fields[name] as FieldValue);
  }
  return summary;
}

function shown(name: string, value: FieldValue): string | number | boolean {
  if (typeof value === 'bigint') return name === 'asof' ? isoTime(value) : value.toString();
  return value instanceof Uint8Array ? encodeBase58(value) : value;
}

export interface EventAmounts {
  a: bigint;
  b: bigint;
  c: bigint;
  d: bigint;
}

/** The amounts that figures sum, in the order of the events table's columns; 0 where a kind has none. */
export function amountsOf({ event, fields }: ProgramEvent): EventAmounts {
  const of = (a = 0n, b = 0n, c = 0n, d = 0n): EventAmounts => ({ a, b, c, d });
  switch (event) {
    case 'FeesClaimed':
      return of(fields.quoteAmount, fields.baseAmount);
    case 'Routed':
      return of(fields.amount, fields.protocolCut, fields.toLp, fields.toBankroll);
    case 'ProfitSwept':
      return of(fields.profit, fields.toLp, fields.toHolders);
    case 'BuybackBurned':
      return of(fields.spent, fields.burned);
    case 'BaseLegBurned':
      return of(fields.burned);
    case 'PassiveDeployed':
    case 'AgentFundedVenue':
    case 'CreditNoted':
      return of(fields.amount);
    default:
      return of();
  }
}
