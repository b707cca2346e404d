/** A public key, base58. */
export type Key = string;

export const PASSIVE = 0;
export const AGENT = 1;
export const LOCAL = 0;
export const REMOTE = 1;

export interface ProtocolConfig {
  address: Key;
  admin: Key;
  reporter: Key;
  feeDestination: Key;
  launchpadProgram: Key;
  ammProgram: Key;
  paused: boolean;
  protocolFeeBps: number;
  maxBankrollBps: number;
  maxDeviationBps: number;
  maxRemoteStaleness: bigint;
  minRiskForClass: number[];
  bump: number;
}

export interface Origin {
  address: Key;
  id: number;
  name: string;
  assetClassMask: number;
  maxRisk: number;
  bump: number;
}

export interface Model {
  address: Key;
  id: number;
  name: string;
  provider: string;
  enabled: boolean;
  registeredAt: bigint;
  bump: number;
}

export interface Policy {
  address: Key;
  mint: Key;
  quoteMint: Key;
  feeKeyMint: Key;
  authority: Key;
  agent: Key;
  guardian: Key;
  origin: Key;
  originId: number;
  mode: number;
  modelId: number;
  toLpBps: number;
  toBankrollBps: number;
  profitToLpBps: number;
  profitToHoldersBps: number;
  profitToBankrollBps: number;
  risk: number;
  targetAsset: Key;
  targetLeverageX: number;
  locked: boolean;
  paused: boolean;
  feesClaimed: bigint;
  protocolFees: bigint;
  routedToLp: bigint;
  routedToBankroll: bigint;
  profitSwept: bigint;
  paidToHolders: bigint;
  tokensBurned: bigint;
  creditSpent: bigint;
  hwm: bigint;
  venueCount: number;
  createdAt: bigint;
  bump: number;
}

export interface VenueAccount {
  address: Key;
  policy: Key;
  tokenAccount: Key;
  assetMint: Key;
  kind: number;
  assetClass: number;
  revoked: boolean;
  /** 32 bytes, base58. */
  remoteAccount: Key;
  remoteEquity: bigint;
  remoteNotional: bigint;
  remoteAsof: bigint;
  bridgedOut: bigint;
  bump: number;
}

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
