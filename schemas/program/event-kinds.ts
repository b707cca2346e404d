import type { Mode, VenueKind } from './account-fields.ts';
import { camelCase, type IdlField } from './idl.ts';

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

const PAUSE_ACTORS: Record<PausedBy, Actor> = {
  authority: 'authority',
  guardian: 'guardian',
  attestation: 'reporter',
};

interface Facts<Fields> {
  /** Part of the positions that derived events are stored at: unique to the kind, never to be changed, and below 32. */
  code: number;
  /** The role that the instruction requires. */
  actor: Actor | ((fields: Partial<Record<string, unknown>>) => Actor);
  /** The amounts that figures sum, in the order of the events table's columns. */
  amounts: readonly (keyof Fields & string)[];
  /** What the summary shows where spec part 6 tabulates it; all fields elsewhere. */
  summary?: readonly (keyof Fields & string)[];
  /** Other fields that the code looks at by name. */
  reads?: readonly (keyof Fields & string)[];
  /** Where logs are cut: the instructions whose calls tell the event, each with the fields that are arguments of it. */
  toldBy?: Readonly<Record<string, readonly (keyof Fields & string)[]>>;
}

type FieldsOf<K extends EventKind> = K extends PolicyEventKind ? EventFields[K] : { paused: boolean };

export const EVENT_KINDS: { readonly [K in EventKind]: Facts<FieldsOf<K>> } = {
  FeesClaimed: { code: 0, actor: 'keeper', amounts: ['quoteAmount', 'baseAmount'] },
  Routed: {
    code: 1,
    actor: 'keeper',
    amounts: ['amount', 'protocolCut', 'toLp', 'toBankroll'],
    summary: ['toLp', 'toBankroll'],
  },
  ProfitSwept: {
    code: 2,
    actor: 'keeper',
    amounts: ['profit', 'toLp', 'toHolders'],
    summary: ['toLp', 'profit', 'toHolders'],
  },
  BuybackBurned: { code: 3, actor: 'keeper', amounts: ['spent', 'burned'] },
  BaseLegBurned: { code: 4, actor: 'keeper', amounts: ['burned'] },
  PassiveDeployed: { code: 5, actor: 'keeper', amounts: ['amount'], summary: ['amount'] },
  AgentFundedVenue: { code: 6, actor: 'agent', amounts: ['amount'] },
  CreditNoted: { code: 7, actor: 'agent', amounts: ['amount'], toldBy: { note_credit: ['amount'] } },
  PolicyInitialised: { code: 8, actor: 'authority', amounts: [], summary: ['mode'] },
  VenueRegistered: {
    code: 9,
    actor: 'authority',
    amounts: [],
    summary: ['kind', 'tokenAccount'],
    reads: ['assetClass'],
  },
  VenueRevoked: { code: 10, actor: 'authority', amounts: [] },
  RemoteEquityReported: { code: 11, actor: 'reporter', amounts: [], reads: ['paused'] },
  AgentSet: { code: 12, actor: 'authority', amounts: [], toldBy: { set_agent: ['newAgent'] } },
  PolicyUpdated: { code: 13, actor: 'authority', amounts: [], toldBy: { set_policy: [] } },
  PolicyLocked: { code: 14, actor: 'authority', amounts: [], toldBy: { lock_policy: [] } },
  PolicyPaused: {
    code: 15,
    actor: ({ by }) => PAUSE_ACTORS[by as PausedBy],
    amounts: [],
    reads: ['by'],
  },
  ProtocolPaused: { code: 16, actor: 'admin', amounts: [] },
};

/** @throws Error where an IDL's event lacks a field that is read, or an amount is no u64: its sums would be 0. */
export function mustHaveEventFields(kind: EventKind, given: readonly IdlField[]): void {
  const types = new Map(given.map(({ name, type }) => [camelCase(name), type]));
  const facts: Facts<Record<string, unknown>> = EVENT_KINDS[kind];
  const { amounts, summary = [], reads = [] } = facts;
  const missing = new Set([...amounts, ...summary, ...reads].filter((name) => !types.has(name)));
  if (missing.size > 0) throw new Error(`the IDL's event ${kind} lacks ${[...missing].join(', ')}`);
  const others = amounts.filter((name) => types.get(name) !== 'u64');
  if (others.length > 0)
    throw new Error(`the IDL's event ${kind} has ${others.join(', ')} of another type than u64`);
}
