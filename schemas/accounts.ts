import { ACCOUNTS, discriminatorOf } from './idl.ts';
import { MalformedError } from './malformed.ts';
import { type FieldValue, type Struct, structReader } from './struct.ts';

/** Keys are 32 raw bytes, u64 and i64 bigint, times unix seconds. */
export interface ProtocolConfig {
  type: 'ProtocolConfig';
  admin: Uint8Array;
  reporter: Uint8Array;
  feeDestination: Uint8Array;
  launchpadProgram: Uint8Array;
  ammProgram: Uint8Array;
  paused: boolean;
  protocolFeeBps: number;
  maxBankrollBps: number;
  maxDeviationBps: number;
  maxRemoteStaleness: bigint;
  minRiskForClass: Uint8Array;
}

export interface Origin {
  type: 'Origin';
  id: number;
  name: string;
  assetClassMask: number;
  maxRisk: number;
}

export interface Model {
  type: 'Model';
  id: number;
  name: string;
  provider: string;
  enabled: boolean;
  registeredAt: bigint;
}

export type Mode = 'Passive' | 'Agent';

export interface Policy {
  type: 'Policy';
  mint: Uint8Array;
  quoteMint: Uint8Array;
  feeKeyMint: Uint8Array;
  authority: Uint8Array;
  /** 32 zero bytes when unset. */
  agent: Uint8Array;
  guardian: Uint8Array;
  origin: Uint8Array;
  originId: number;
  mode: Mode;
  modelId: number;
  toLpBps: number;
  toBankrollBps: number;
  profitToLpBps: number;
  profitToHoldersBps: number;
  profitToBankrollBps: number;
  risk: number;
  targetAsset: Uint8Array;
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
}

export type VenueKind = 'Local' | 'Remote';

export interface VenueAccount {
  type: 'VenueAccount';
  policy: Uint8Array;
  tokenAccount: Uint8Array;
  assetMint: Uint8Array;
  kind: VenueKind;
  /** Exactly one bit. */
  assetClass: number;
  revoked: boolean;
  remoteAccount: Uint8Array;
  remoteEquity: bigint;
  remoteNotional: bigint;
  /** 0: never attested. */
  remoteAsof: bigint;
  bridgedOut: bigint;
}

export type ProgramAccount = ProtocolConfig | Origin | Model | Policy | VenueAccount;
export type AccountType = ProgramAccount['type'];

export const MODES: readonly Mode[] = ['Passive', 'Agent'];
export const VENUE_KINDS: readonly VenueKind[] = ['Local', 'Remote'];

/** The name of an enumeration's value. @throws MalformedError where it is out of range. */
export function nameOf<T extends string>(
  names: readonly T[],
  value: FieldValue | undefined,
  what: string,
): T {
  const name = names[value as number];
  if (name === undefined) throw new MalformedError(what, `${String(value)} is out of range`);
  return name;
}

/** An asset class is exactly one bit. @throws MalformedError */
export function checkAssetClass(value: number, what: string): void {
  if (value === 0 || (value & (value - 1)) !== 0)
    throw new MalformedError(what, `${value} is not one class bit`);
}

const readers: Record<AccountType, (data: Uint8Array) => ProgramAccount> = {
  ProtocolConfig: typed('ProtocolConfig', () => {}),
  Origin: typed('Origin', () => {}),
  Model: typed('Model', () => {}),
  Policy: typed('Policy', (fields) => {
    fields.mode = nameOf(MODES, fields.mode, 'Policy.mode');
  }),
  VenueAccount: typed('VenueAccount', (fields) => {
    fields.kind = nameOf(VENUE_KINDS, fields.kind, 'VenueAccount.kind');
    checkAssetClass(fields.assetClass as number, 'VenueAccount.asset_class');
  }),
};

function typed(type: AccountType, check: (fields: Struct) => void): (data: Uint8Array) => ProgramAccount {
  const read = structReader(type, { type });
  return (data) => {
    const fields = read(data);
    check(fields);
    return fields as unknown as ProgramAccount;
  };
}

/** The name of the account that these bytes claim to be, or null for an unknown discriminator. */
export function accountType(data: Uint8Array): AccountType | null {
  return (ACCOUNTS.get(discriminatorOf(data)) as AccountType | undefined) ?? null;
}

/**
 * Reads an account of the program.
 * @throws MalformedError for an unknown discriminator, too few bytes, or a bool, enum, asset class or string out of range.
 */
export function decodeAccount(data: Uint8Array): ProgramAccount {
  const type = accountType(data);
  if (type === null) throw new MalformedError('account', 'unknown discriminator');
  return readers[type](data);
}
