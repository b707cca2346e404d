import { MalformedError } from '../malformed.ts';
import { encodeBase58 } from '../solana/base58.ts';
import { isoTime } from '../units.ts';
import { checkAssetClass, MODES, type Mode, nameOf, VENUE_KINDS, type VenueKind } from './accounts.ts';
import { camelCase, discriminatorOf, EVENTS, fieldsOf } from './idl.ts';
import { type FieldValue, type Struct, structReader } from './struct.ts';

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

export interface OfPolicy {
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

/** What is known of an event; of one that was not seen itself, perhaps not every field. */
export interface KnownEvent {
  event: EventKind;
  of: OfPolicy | null;
  fields: Partial<Record<string, FieldValue>>;
}

/** The role that the event's instruction requires; not a recorded signer. */
export function actorOf({ event, fields }: Pick<KnownEvent, 'event' | 'fields'>): Actor {
  return event === 'PolicyPaused' ? PAUSE_ACTORS[fields.by as PausedBy] : ACTORS[event];
}

/** The fields that the summary of a kind shows where spec part 6 tabulates them; all fields elsewhere. */
const TABULATED: Partial<Record<string, readonly string[]>> = {
  PolicyInitialised: ['mode'],
  VenueRegistered: ['kind', 'tokenAccount'],
  Routed: ['toLp', 'toBankroll'],
  PassiveDeployed: ['amount'],
  ProfitSwept: ['toLp', 'profit', 'toHolders'],
};
const SUMMARY_FIELDS = new Map(
  [...EVENTS.values()].map((name) => [
    name,
    TABULATED[name] ??
      fieldsOf(name)
        .map((field) => camelCase(field.name))
        .filter((key) => !EVENT_HEAD.has(key)),
  ]),
);

export type Summary = Record<string, string | number | boolean>;

/** What `/coins/:mint/activity` shows of an event: amounts as decimal strings, keys base58, times ISO 8601. */
export function summaryOf({ event, fields }: Pick<KnownEvent, 'event' | 'fields'>): Summary {
  const summary: Summary = {};
  for (const name of SUMMARY_FIELDS.get(event) ?? []) {
    const value = fields[name];
    if (value !== undefined) summary[name] = shown(name, value);
  }
  return summary;
}

function shown(name: string, value: FieldValue): string | number | boolean {
  if (typeof value === 'bigint') return name === 'asof' ? isoTime(value) : value.toString();
  return value instanceof Uint8Array ? encodeBase58(value) : value;
}

/** The amounts that figures sum, in the order of the events table's columns. */
export const AMOUNTS: {
  [K in EventKind]: readonly (K extends PolicyEventKind ? keyof EventFields[K] : never)[];
} = {
  FeesClaimed: ['quoteAmount', 'baseAmount'],
  Routed: ['amount', 'protocolCut', 'toLp', 'toBankroll'],
  ProfitSwept: ['profit', 'toLp', 'toHolders'],
  BuybackBurned: ['spent', 'burned'],
  BaseLegBurned: ['burned'],
  PassiveDeployed: ['amount'],
  AgentFundedVenue: ['amount'],
  CreditNoted: ['amount'],
  PolicyInitialised: [],
  VenueRegistered: [],
  VenueRevoked: [],
  RemoteEquityReported: [],
  AgentSet: [],
  PolicyUpdated: [],
  PolicyLocked: [],
  PolicyPaused: [],
  ProtocolPaused: [],
};

export interface EventAmounts {
  a: bigint;
  b: bigint;
  c: bigint;
  d: bigint;
}

/** 0 where a kind has no such amount, or it is not known. */
export function amountsOf({ event, fields }: Pick<KnownEvent, 'event' | 'fields'>): EventAmounts {
  const names: readonly string[] = AMOUNTS[event];
  const at = (place: number) => (fields[names[place] ?? ''] as bigint | undefined) ?? 0n;
  return { a: at(0), b: at(1), c: at(2), d: at(3) };
}
