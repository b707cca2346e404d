import type { IdlField } from './idl.ts';

export type Mode = 'Passive' | 'Agent';
export type VenueKind = 'Local' | 'Remote';

/** The kinds of fields: the type as decoded, and as a column. Integers over 32 bits travel as text, flags as 0 or 1. */
export interface FieldKinds {
  key: { decoded: Uint8Array; column: string };
  /** 32 zero bytes stand for none. */
  keyOrNone: { decoded: Uint8Array; column: string | null };
  /** Hex digits. */
  hex: { decoded: Uint8Array; column: string };
  numbers: { decoded: Uint8Array; column: number[] };
  text: { decoded: string; column: string };
  flag: { decoded: boolean; column: 0 | 1 };
  number: { decoded: number; column: number };
  amount: { decoded: bigint; column: string };
  mode: { decoded: Mode; column: Mode };
  venueKind: { decoded: VenueKind; column: VenueKind };
}
export type FieldKind = keyof FieldKinds;

/**
 * Where readers see a field: `as it is` under its own name in camelCase (the policy's, in `/coins/:mint`), `by hand` in
 * some answer, or `nowhere`. A field that readers do not see may also be `not stored`.
 */
export type Served = 'as it is' | 'by hand' | 'nowhere' | 'not stored';

/**
 * Kinds of a field whose column was added to tables that had rows: it is null in every row that was written before,
 * until the account is read anew. Kinds whose column cannot be null, or means something else by it, are stored as
 * another kind: a key that may be none as `key`, a list as `hex`.
 */
export type AddedKind = Exclude<FieldKind, 'keyOrNone' | 'numbers'>;
type Field =
  | readonly [kind: FieldKind, served: Served]
  | readonly [kind: AddedKind, served: Served, since: 'added'];

/**
 * The fields of the program's accounts by the names that the IDL and the columns have for them, and what becomes of
 * each. The types of decoded accounts and of rows, column lists and the answers' plain fields are made from this; a
 * test compares it with the IDL and with the tables.
 */
export const ACCOUNT_FIELDS = {
  ProtocolConfig: {
    admin: ['key', 'nowhere'],
    reporter: ['key', 'nowhere'],
    fee_destination: ['key', 'nowhere'],
    launchpad_program: ['key', 'by hand'],
    amm_program: ['key', 'by hand'],
    paused: ['flag', 'by hand'],
    protocol_fee_bps: ['number', 'by hand'],
    max_bankroll_bps: ['number', 'by hand'],
    max_deviation_bps: ['number', 'by hand'],
    /** Seconds; 0: not configured. */
    max_remote_staleness: ['amount', 'by hand'],
    min_risk_for_class: ['numbers', 'by hand'],
    bump: ['number', 'not stored'],
  },
  Origin: {
    id: ['number', 'by hand'],
    name: ['text', 'by hand'],
    asset_class_mask: ['number', 'by hand'],
    max_risk: ['number', 'by hand'],
    bump: ['number', 'not stored'],
  },
  Model: {
    id: ['number', 'by hand'],
    name: ['text', 'by hand'],
    provider: ['text', 'by hand'],
    enabled: ['flag', 'by hand'],
    registered_at: ['amount', 'by hand'],
    bump: ['number', 'not stored'],
  },
  Policy: {
    mint: ['key', 'by hand'],
    quote_mint: ['key', 'by hand'],
    fee_key_mint: ['key', 'by hand'],
    authority: ['key', 'by hand'],
    agent: ['keyOrNone', 'by hand'],
    guardian: ['key', 'by hand'],
    origin: ['key', 'by hand'],
    origin_id: ['number', 'by hand'],
    mode: ['mode', 'by hand'],
    model_id: ['number', 'by hand'],
    to_lp_bps: ['number', 'by hand'],
    to_bankroll_bps: ['number', 'by hand'],
    profit_to_lp_bps: ['number', 'by hand'],
    profit_to_holders_bps: ['number', 'by hand'],
    profit_to_bankroll_bps: ['number', 'by hand'],
    risk: ['number', 'as it is'],
    target_asset: ['key', 'as it is'],
    target_leverage_x: ['number', 'as it is'],
    locked: ['flag', 'as it is'],
    paused: ['flag', 'as it is'],
    /** Amounts of a policy are base units of its quote asset, but for `tokens_burned`: of the launched token. */
    fees_claimed: ['amount', 'by hand'],
    protocol_fees: ['amount', 'by hand'],
    routed_to_lp: ['amount', 'by hand'],
    routed_to_bankroll: ['amount', 'by hand'],
    profit_swept: ['amount', 'by hand'],
    paid_to_holders: ['amount', 'by hand'],
    tokens_burned: ['amount', 'by hand'],
    credit_spent: ['amount', 'by hand'],
    hwm: ['amount', 'by hand'],
    /** How many of its venue accounts are not revoked. */
    venue_count: ['number', 'by hand'],
    created_at: ['amount', 'by hand'],
    bump: ['number', 'not stored'],
  },
  VenueAccount: {
    policy: ['key', 'by hand'],
    token_account: ['key', 'by hand'],
    asset_mint: ['key', 'by hand'],
    kind: ['venueKind', 'by hand'],
    /** Exactly one bit. */
    asset_class: ['number', 'by hand'],
    revoked: ['flag', 'by hand'],
    remote_account: ['hex', 'nowhere'],
    remote_equity: ['amount', 'by hand'],
    remote_notional: ['amount', 'nowhere'],
    /** Unix seconds; 0: never attested. */
    remote_asof: ['amount', 'by hand'],
    bridged_out: ['amount', 'by hand'],
    bump: ['number', 'not stored'],
  },
} as const satisfies Record<string, Record<string, Field>>;

type Fields = typeof ACCOUNT_FIELDS;
export type AccountType = keyof Fields;

export type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type KindOf<T extends AccountType, F extends keyof Fields[T]> = Fields[T][F] extends readonly [
  infer Kind extends FieldKind,
  ...unknown[],
]
  ? Kind
  : never;
type ServedOf<T extends AccountType, F extends keyof Fields[T]> = Fields[T][F] extends readonly [
  FieldKind,
  infer S,
  ...unknown[],
]
  ? S
  : never;
type NullIfAdded<T extends AccountType, F extends keyof Fields[T]> = Fields[T][F] extends readonly [
  FieldKind,
  Served,
  'added',
]
  ? null
  : never;

/** An account as decoded: keys are 32 raw bytes, u64 and i64 bigint, times unix seconds. */
export type Account<T extends AccountType> = { type: T } & {
  [F in keyof Fields[T] as CamelCase<F>]: FieldKinds[KindOf<T, F>]['decoded'];
};

/** The columns that hold an account's fields. */
export type AccountColumns<T extends AccountType> = {
  [F in keyof Fields[T] as ServedOf<T, F> extends 'not stored' ? never : F]:
    | FieldKinds[KindOf<T, F>]['column']
    | NullIfAdded<T, F>;
};

/** The policy's fields that an answer shows as they are: kinds by column. */
export type PlainField = {
  [F in keyof Fields['Policy']]: ServedOf<'Policy', F> extends 'as it is' ? F : never;
}[keyof Fields['Policy']];
export type PlainKind<F extends PlainField> = KindOf<'Policy', F>;
/** The plain fields that are null in older rows. */
export type AddedPlainField = {
  [F in PlainField]: null extends AccountColumns<'Policy'>[F] ? F : never;
}[PlainField];

export interface StoredField {
  column: string;
  kind: FieldKind;
  added: boolean;
}

const fieldsThat = (type: AccountType, is: (served: Served) => boolean): StoredField[] =>
  Object.entries<Field>(ACCOUNT_FIELDS[type])
    .filter(([, [, served]]) => is(served))
    .map(([column, [kind, , since]]) => ({ column, kind, added: since === 'added' }));

/** The stored fields, in order. */
export const storedFields = (type: AccountType): StoredField[] =>
  fieldsThat(type, (served) => served !== 'not stored');

/** The names of the stored fields, as a list of columns. */
export const columnList = (type: AccountType): string =>
  storedFields(type)
    .map(({ column }) => column)
    .join(', ');

export interface Plain extends StoredField {
  column: PlainField;
  kind: PlainKind<PlainField>;
}

/** The policy's fields that an answer shows as they are. */
export const plainFields = (): Plain[] => fieldsThat('Policy', (served) => served === 'as it is') as Plain[];

/** @throws Error where an IDL lacks a field that is read. */
export function mustHaveFields(type: AccountType, given: readonly IdlField[]): void {
  const names = new Set(given.map(({ name }) => name));
  const missing = storedFields(type).filter(({ column }) => !names.has(column));
  if (missing.length > 0)
    throw new Error(`the IDL's ${type} lacks ${missing.map(({ column }) => column).join(', ')}`);
}
