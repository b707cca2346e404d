/**
 * The byte layout, written down a second time from the interface's description and not from the IDL: what the
 * chain encodes by this table and the service decodes by the other one must agree.
 */
export type Scalar = 'pubkey' | 'string' | 'bool' | 'u8' | 'u16' | 'u64' | 'i64' | 'u8x8';
export type Layout = readonly (readonly [field: string, type: Scalar])[];

/** Reads `name: type` pairs. */
function layout(text: string): Layout {
  return text
    .trim()
    .split(/\s*[·\n]\s*/)
    .map((pair) => pair.split(' ') as [string, Scalar]);
}

export const ACCOUNT_LAYOUTS = {
  ProtocolConfig: layout(`admin pubkey · reporter pubkey · feeDestination pubkey · launchpadProgram pubkey
    ammProgram pubkey · paused bool · protocolFeeBps u16 · maxBankrollBps u16 · maxDeviationBps u16
    maxRemoteStaleness i64 · minRiskForClass u8x8 · bump u8`),
  Origin: layout('id u16 · name string · assetClassMask u8 · maxRisk u8 · bump u8'),
  Model: layout('id u16 · name string · provider string · enabled bool · registeredAt i64 · bump u8'),
  Policy: layout(`mint pubkey · quoteMint pubkey · feeKeyMint pubkey · authority pubkey · agent pubkey
    guardian pubkey · origin pubkey · originId u16 · mode u8 · modelId u16 · toLpBps u16 · toBankrollBps u16
    profitToLpBps u16 · profitToHoldersBps u16 · profitToBankrollBps u16 · risk u8 · targetAsset pubkey
    targetLeverageX u8 · locked bool · paused bool · feesClaimed u64 · protocolFees u64 · routedToLp u64
    routedToBankroll u64 · profitSwept u64 · paidToHolders u64 · tokensBurned u64 · creditSpent u64 · hwm u64
    venueCount u16 · createdAt i64 · bump u8`),
  VenueAccount: layout(`policy pubkey · tokenAccount pubkey · assetMint pubkey · kind u8 · assetClass u8
    revoked bool · remoteAccount pubkey · remoteEquity u64 · remoteNotional u64 · remoteAsof i64
    bridgedOut u64 · bump u8`),
};

const ofPolicy = (rest: string): Layout => [
  ...layout('policy pubkey · mint pubkey · quoteMint pubkey'),
  ...(rest === '' ? [] : layout(rest)),
];

export const EVENT_LAYOUTS = {
  PolicyInitialised: ofPolicy('authority pubkey · agent pubkey · originId u16 · modelId u16 · mode u8'),
  VenueRegistered: ofPolicy('tokenAccount pubkey · assetMint pubkey · kind u8 · assetClass u8'),
  VenueRevoked: ofPolicy('tokenAccount pubkey'),
  FeesClaimed: ofPolicy('quoteAmount u64 · baseAmount u64'),
  Routed: ofPolicy('amount u64 · protocolCut u64 · toLp u64 · toBankroll u64'),
  PassiveDeployed: ofPolicy('tokenAccount pubkey · amount u64'),
  AgentFundedVenue: ofPolicy('tokenAccount pubkey · amount u64'),
  ProfitSwept: ofPolicy('equity u64 · profit u64 · toLp u64 · toHolders u64 · hwm u64'),
  BuybackBurned: ofPolicy('spent u64 · burned u64'),
  BaseLegBurned: ofPolicy('burned u64'),
  RemoteEquityReported: ofPolicy('tokenAccount pubkey · equity u64 · notional u64 · asof i64 · paused bool'),
  CreditNoted: ofPolicy('amount u64'),
  AgentSet: ofPolicy('oldAgent pubkey · newAgent pubkey'),
  PolicyUpdated: ofPolicy(''),
  PolicyLocked: ofPolicy(''),
  PolicyPaused: ofPolicy('paused bool · by u8'),
  ProtocolPaused: layout('paused bool'),
};
