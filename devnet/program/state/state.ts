import type { ACCOUNT_LAYOUTS, Fields } from './layouts.ts';

/** A public key, base58. */
export type Key = string;

export const PASSIVE = 0;
export const AGENT = 1;
export const LOCAL = 0;
export const REMOTE = 1;

/**
 * An account of the program. These types follow from the chain's own layouts and share nothing with the service's readers
 * but what the IDL says, so that a mistake in one of them shows.
 */
type Account<T extends keyof typeof ACCOUNT_LAYOUTS> = { address: Key } & Fields<(typeof ACCOUNT_LAYOUTS)[T]>;

export type ProtocolConfig = Account<'ProtocolConfig'>;
export type Origin = Account<'Origin'>;
export type Model = Account<'Model'>;
export type Policy = Account<'Policy'>;
export type VenueAccount = Account<'VenueAccount'>;

export interface TokenAccount {
  address: Key;
  mint: Key;
  owner: Key;
  amount: bigint;
  /** Token program that owns the account. */
  program: Key;
}

export interface TokenMetadata {
  name: string;
  symbol: string;
  uri: string;
}

export interface Mint {
  address: Key;
  program: Key;
  decimals: number;
  supply: bigint;
  /** Inside the mint account itself. */
  metadata: TokenMetadata | null;
  /** MetadataPointer: the mint itself, another account, or none. */
  metadataPointer: Key | null;
  /** Whether the mint carries an extension that no public decoder knows. */
  unknownExtension: boolean;
}

/** Token metadata in an account of its own, which a mint points to. */
export interface MetadataAccount extends TokenMetadata {
  address: Key;
  mint: Key;
}

export interface CurveConfig {
  address: Key;
  /** 0 constant product, 1 fixed price, 2 linear. */
  curveType: number;
  quoteMint: Key;
}

export interface Pool {
  address: Key;
  /** 0 Fund, 1 Migrate, 2 Trade. */
  status: number;
  baseDecimals: number;
  quoteDecimals: number;
  supply: bigint;
  totalBaseSell: bigint;
  virtualBase: bigint;
  virtualQuote: bigint;
  realBase: bigint;
  realQuote: bigint;
  totalQuoteFundRaising: bigint;
  globalConfig: Key;
  baseMint: Key;
  quoteMint: Key;
  creator: Key;
}

/** Everything on the chain, typed, by address. */
export interface Tables {
  configs: ProtocolConfig;
  origins: Origin;
  models: Model;
  policies: Policy;
  venues: VenueAccount;
  tokens: TokenAccount;
  mints: Mint;
  metadata: MetadataAccount;
  curves: CurveConfig;
  pools: Pool;
}

export type TableName = keyof Tables;
export type ProgramState = { [T in TableName]: Map<Key, Tables[T]> };

export const TABLE_NAMES: readonly TableName[] = [
  'configs',
  'origins',
  'models',
  'policies',
  'venues',
  'tokens',
  'mints',
  'metadata',
  'curves',
  'pools',
];

export function emptyState(): ProgramState {
  return {
    configs: new Map(),
    origins: new Map(),
    models: new Map(),
    policies: new Map(),
    venues: new Map(),
    tokens: new Map(),
    mints: new Map(),
    metadata: new Map(),
    curves: new Map(),
    pools: new Map(),
  };
}
