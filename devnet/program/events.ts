import type { Key } from './state.ts';

/** Fields of every event, as the program knows them: keys base58, u64 and i64 as bigint, narrower ones as number. */
interface OfPolicy {
  policy: Key;
  mint: Key;
  quoteMint: Key;
}

export interface EventFields {
  PolicyInitialised: OfPolicy & {
    authority: Key;
    agent: Key;
    originId: number;
    modelId: number;
    mode: number;
  };
  VenueRegistered: OfPolicy & { tokenAccount: Key; assetMint: Key; kind: number; assetClass: number };
  VenueRevoked: OfPolicy & { tokenAccount: Key };
  FeesClaimed: OfPolicy & { quoteAmount: bigint; baseAmount: bigint };
  Routed: OfPolicy & { amount: bigint; protocolCut: bigint; toLp: bigint; toBankroll: bigint };
  PassiveDeployed: OfPolicy & { tokenAccount: Key; amount: bigint };
  AgentFundedVenue: OfPolicy & { tokenAccount: Key; amount: bigint };
  ProfitSwept: OfPolicy & { equity: bigint; profit: bigint; toLp: bigint; toHolders: bigint; hwm: bigint };
  BuybackBurned: OfPolicy & { spent: bigint; burned: bigint };
  BaseLegBurned: OfPolicy & { burned: bigint };
  RemoteEquityReported: OfPolicy & {
    tokenAccount: Key;
    equity: bigint;
    notional: bigint;
    asof: bigint;
    paused: boolean;
  };
  CreditNoted: OfPolicy & { amount: bigint };
  AgentSet: OfPolicy & { oldAgent: Key; newAgent: Key };
  PolicyUpdated: OfPolicy;
  PolicyLocked: OfPolicy;
  /** `by`: 0 authority, 1 guardian, 2 attestation. */
  PolicyPaused: OfPolicy & { paused: boolean; by: number };
  ProtocolPaused: { paused: boolean };
}

export type EventKind = keyof EventFields;
export type TypedEvent = { [K in EventKind]: { kind: K; fields: EventFields[K] } }[EventKind];
