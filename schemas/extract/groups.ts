import { EVENT_KINDS, type EventKind } from '../program/event-kinds.ts';
import { actorOf, type KnownEvent } from '../program/events.ts';
import type { FieldValue } from '../program/struct.ts';

/** An event that a transaction must have emitted, and the place of its call among the program's calls. */
export interface ImpliedEvent extends KnownEvent {
  place: number;
}

/** All events of a kind of a policy in a transaction, as one. */
export interface EventGroup extends ImpliedEvent {
  /** Names of the amounts that are not known of all members. */
  unknown: string[];
  /** Where the members register several venue accounts: the token account of each. */
  registered?: Uint8Array[];
}

const U64_MAX = (1n << 64n) - 1n;

/** The groups, in the order of their first calls. */
export function groupedEvents(members: readonly ImpliedEvent[]): EventGroup[] {
  const nameOf = ({ event, of }: ImpliedEvent) =>
    `${event}/${of === null ? '' : Buffer.from(of.policy).toString('hex')}`;
  return [...Map.groupBy(members, nameOf).values()].map(one);
}

function one(members: readonly ImpliedEvent[]): EventGroup {
  const [first] = members as [ImpliedEvent];
  const amounts: ReadonlySet<string> = new Set(EVENT_KINDS[first.event].amounts);
  const names = new Set(members.flatMap(({ fields }) => Object.keys(fields)));
  const fields: ImpliedEvent['fields'] = {};
  for (const name of names) {
    const values = members.map((member) => member.fields[name]);
    const value = amounts.has(name) ? sum(values) : common(values);
    if (value !== undefined) fields[name] = value;
  }
  return {
    ...first,
    fields,
    actor: actorOf(first),
    unknown: [...amounts].filter((name) => fields[name] === undefined),
    ...(first.event === 'VenueRegistered' && fields.tokenAccount === undefined
      ? { registered: tokenAccountsOf(members) }
      : {}),
  };
}

function tokenAccountsOf(members: readonly ImpliedEvent[]): Uint8Array[] {
  const all = members.map(({ fields }) => fields.tokenAccount as Uint8Array);
  return [...new Map(all.map((key) => [Buffer.from(key).toString('hex'), key])).values()];
}

/** Undefined where one is not known, or the sum is more than any account holds. */
function sum(values: readonly (FieldValue | undefined)[]): bigint | undefined {
  if (values.includes(undefined)) return undefined;
  const total = (values as bigint[]).reduce((left, right) => left + right, 0n);
  return total > U64_MAX ? undefined : total;
}

/** Undefined where they differ: no single one stands for all. */
function common(values: readonly (FieldValue | undefined)[]): FieldValue | undefined {
  const [first] = values;
  const text = (value: FieldValue | undefined) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
  return values.every((value) => text(value) === text(first)) ? first : undefined;
}

/** Positions of events in whole readings are far below: a transaction has 64 calls at most. */
export const FIRST_DERIVED_POSITION = 0x8000;
/** Positions of each call, one for each kind of event: the codes of kinds are below it. */
export const POSITIONS_PER_CALL = 32;
export const MOST_CALLS = (0x10000 - FIRST_DERIVED_POSITION) / POSITIONS_PER_CALL;

/** Behind the events of whole readings, and the same in every reading: made of kind and place of the first call. */
export function positionOf(event: EventKind, place: number): number {
  return FIRST_DERIVED_POSITION + place * POSITIONS_PER_CALL + EVENT_KINDS[event].code;
}
