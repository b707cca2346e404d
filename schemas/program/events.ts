import { MalformedError } from '../malformed.ts';
import { encodeBase58 } from '../solana/base58.ts';
import { isoTime } from '../units.ts';
import { checkAssetClass, MODES, nameOf, VENUE_KINDS } from './accounts.ts';
import {
  type Actor,
  EVENT_KINDS,
  type EventKind,
  mustHaveEventFields,
  type OfPolicy,
  type PausedBy,
  type ProgramEvent,
} from './event-kinds.ts';
import { camelCase, discriminatorOf, EVENTS, fieldsOf } from './idl.ts';
import { type FieldValue, type Struct, structReader } from './struct.ts';

const PAUSED_BY: readonly PausedBy[] = ['authority', 'guardian', 'attestation'];

const HEAD_FIELDS = ['policy', 'mint', 'quote_mint'];
const EVENT_HEAD: ReadonlySet<string> = new Set(HEAD_FIELDS.map(camelCase));

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
      name: knownKind(name),
      of: name === 'ProtocolPaused' ? null : headReader(name),
      fields: structReader(name, {}, (key) => !EVENT_HEAD.has(key)),
    },
  ]),
);

/** @throws Error where an IDL has an event that EVENT_KINDS does not have, or one without the fields that are read. */
function knownKind(name: string): EventKind {
  if (!(name in EVENT_KINDS))
    throw new Error(`the IDL's event ${name} has no line among the kinds of events`);
  const kind = name as EventKind;
  mustHaveEventFields(kind, fieldsOf(kind));
  return kind;
}

/** @throws Error where an IDL has an event that does not say of which policy it is. */
function headReader(name: string): (bytes: Uint8Array) => Struct {
  const begins = fieldsOf(name).slice(0, HEAD_FIELDS.length);
  if (begins.some((field, at) => field.name !== HEAD_FIELDS[at]))
    throw new Error(`the IDL's event ${name} does not begin with ${HEAD_FIELDS.join(', ')}`);
  return structReader(name, {}, (key) => EVENT_HEAD.has(key));
}

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

/** What is known of an event; of a derived one, perhaps not every field. */
export interface KnownEvent {
  event: EventKind;
  of: OfPolicy | null;
  fields: Partial<Record<string, FieldValue>>;
  /** Set where it stands for several events: the fields that they have in common may not tell the actor. */
  actor?: Actor;
}

/** The role that the event's instruction requires; not a recorded signer. */
export function actorOf({ event, fields, actor: told }: Omit<KnownEvent, 'of'>): Actor {
  if (told !== undefined) return told;
  const { actor } = EVENT_KINDS[event];
  return typeof actor === 'function' ? actor(fields) : actor;
}

const SUMMARY_FIELDS = new Map<string, readonly string[]>(
  [...EVENTS.values()].map((name) => [
    name,
    EVENT_KINDS[name as EventKind].summary ??
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

export interface EventAmounts {
  a: bigint;
  b: bigint;
  c: bigint;
  d: bigint;
}

/** 0 where a kind has no such amount, or it is not known. */
export function amountsOf({ event, fields }: Pick<KnownEvent, 'event' | 'fields'>): EventAmounts {
  const names: readonly string[] = EVENT_KINDS[event].amounts;
  const at = (place: number) => (fields[names[place] ?? ''] as bigint | undefined) ?? 0n;
  return { a: at(0), b: at(1), c: at(2), d: at(3) };
}
