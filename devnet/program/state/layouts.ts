/**
 * The byte layout, written down a second time from the interface's description and not from the IDL: the chain encodes
 * by these tables, the service decodes by the IDL, and a test proves that the two agree.
 */
export type Scalar = 'pubkey' | 'string' | 'bool' | 'u8' | 'u16' | 'u64' | 'i64' | 'u8x8';
export type Layout = Readonly<Record<string, Scalar>>;

/** The TypeScript type of a field of each scalar type; keys are base58. */
interface Values {
  pubkey: string;
  string: string;
  bool: boolean;
  u8: number;
  u16: number;
  u64: bigint;
  i64: bigint;
  u8x8: number[];
}

/** The fields of a layout as values. */
export type Fields<L extends Layout> = { -readonly [F in keyof L]: Values[L[F]] };

export const ACCOUNT_LAYOUTS = {
  ProtocolConfig: {
    admin: 'pubkey',
    reporter: 'pubkey',
    feeDestination: 'pubkey',
    launchpadProgram: 'pubkey',
    ammProgram: 'pubkey',
    paused: 'bool',
    protocolFeeBps: 'u16',
    maxBankrollBps: 'u16',
    maxDeviationBps: 'u16',
    maxRemoteStaleness: 'i64',
    minRiskForClass: 'u8x8',
    bump: 'u8',
  },
  Origin: {
    id: 'u16',
    name: 'string',
    assetClassMask: 'u8',
    maxRisk: 'u8',
    bump: 'u8',
  },
  Model: {
    id: 'u16',
    name: 'string',
    provider: 'string',
    enabled: 'bool',
    registeredAt: 'i64',
    bump: 'u8',
  },
  Policy: {
    mint: 'pubkey',
    quoteMint: 'pubkey',
    feeKeyMint: 'pubkey',
    authority: 'pubkey',
    agent: 'pubkey',
    guardian: 'pubkey',
    origin: 'pubkey',
    originId: 'u16',
    mode: 'u8',
    modelId: 'u16',
    toLpBps: 'u16',
    toBankrollBps: 'u16',
    profitToLpBps: 'u16',
    profitToHoldersBps: 'u16',
    profitToBankrollBps: 'u16',
    risk: 'u8',
    targetAsset: 'pubkey',
    targetLeverageX: 'u8',
    locked: 'bool',
    paused: 'bool',
    feesClaimed: 'u64',
    protocolFees: 'u64',
    routedToLp: 'u64',
    routedToBankroll: 'u64',
    profitSwept: 'u64',
    paidToHolders: 'u64',
    tokensBurned: 'u64',
    creditSpent: 'u64',
    hwm: 'u64',
    venueCount: 'u16',
    createdAt: 'i64',
    bump: 'u8',
  },
  VenueAccount: {
    policy: 'pubkey',
    tokenAccount: 'pubkey',
    assetMint: 'pubkey',
    kind: 'u8',
    assetClass: 'u8',
    revoked: 'bool',
    remoteAccount: 'pubkey',
    remoteEquity: 'u64',
    remoteNotional: 'u64',
    remoteAsof: 'i64',
    bridgedOut: 'u64',
    bump: 'u8',
  },
} as const satisfies Record<string, Layout>;

const HEAD = { policy: 'pubkey', mint: 'pubkey', quoteMint: 'pubkey' } as const;

export const EVENT_LAYOUTS = {
  PolicyInitialised: {
    ...HEAD,
    authority: 'pubkey',
    agent: 'pubkey',
    originId: 'u16',
    modelId: 'u16',
    mode: 'u8',
  },
  VenueRegistered: { ...HEAD, tokenAccount: 'pubkey', assetMint: 'pubkey', kind: 'u8', assetClass: 'u8' },
  VenueRevoked: { ...HEAD, tokenAccount: 'pubkey' },
  FeesClaimed: { ...HEAD, quoteAmount: 'u64', baseAmount: 'u64' },
  Routed: { ...HEAD, amount: 'u64', protocolCut: 'u64', toLp: 'u64', toBankroll: 'u64' },
  PassiveDeployed: { ...HEAD, tokenAccount: 'pubkey', amount: 'u64' },
  AgentFundedVenue: { ...HEAD, tokenAccount: 'pubkey', amount: 'u64' },
  ProfitSwept: { ...HEAD, equity: 'u64', profit: 'u64', toLp: 'u64', toHolders: 'u64', hwm: 'u64' },
  BuybackBurned: { ...HEAD, spent: 'u64', burned: 'u64' },
  BaseLegBurned: { ...HEAD, burned: 'u64' },
  RemoteEquityReported: {
    ...HEAD,
    tokenAccount: 'pubkey',
    equity: 'u64',
    notional: 'u64',
    asof: 'i64',
    paused: 'bool',
  },
  CreditNoted: { ...HEAD, amount: 'u64' },
  AgentSet: { ...HEAD, oldAgent: 'pubkey', newAgent: 'pubkey' },
  PolicyUpdated: { ...HEAD },
  PolicyLocked: { ...HEAD },
  /** `by`: 0 authority, 1 guardian, 2 attestation. */
  PolicyPaused: { ...HEAD, paused: 'bool', by: 'u8' },
  ProtocolPaused: { paused: 'bool' },
} as const satisfies Record<string, Layout>;
