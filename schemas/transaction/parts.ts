/** One call in the instruction tree. `depth` 1 is top level. */
export interface Call {
  depth: number;
  program: Uint8Array;
  accounts: Account[];
  data: Uint8Array;
}

export interface Account {
  address: Uint8Array;
  writable: boolean;
}

/** What a token account held before a transaction and after it, in base units; null where it is not told. */
export interface TokenBalance {
  address: Uint8Array;
  mint: Uint8Array;
  before: bigint | null;
  after: bigint | null;
}

/** A transaction as it ran, whichever source it came from. */
export interface ChainTransaction {
  failed: boolean;
  /** Every call in execution order, top-level and inner. */
  calls: Call[];
  /** False where the source leaves out how deep an inner call is: then the top-level call counts as its caller. */
  depthsTold: boolean;
  /** Null where the source has none. */
  logs: string[] | null;
  /** Read when asked for: few transactions need them. @throws MalformedError */
  tokenBalances: () => TokenBalance[];
}

/** A token account's balance as both sources have it. */
export interface TokenAmount {
  accountIndex: number;
  /** Base58. */
  mint: string;
  uiTokenAmount?: { amount: string } | undefined;
}

export interface Instruction {
  programIdIndex: number;
  /** Indexes into the keys. */
  accounts: ArrayLike<number>;
  data: Uint8Array;
  /** 2 and up for an inner instruction; sources older than this field leave it out. */
  stackHeight?: number | null | undefined;
}

export interface Header {
  numRequiredSignatures: number;
  numReadonlySignedAccounts: number;
  numReadonlyUnsignedAccounts: number;
}

/** What both sources say of a transaction, in one shape. */
export interface TransactionParts {
  failed: boolean;
  header: Header;
  keys: Uint8Array[];
  /** Addresses that lookup tables added behind the keys, in this order. */
  loadedWritable: Uint8Array[];
  loadedReadonly: Uint8Array[];
  instructions: Instruction[];
  inner: { index: number; instructions: Instruction[] }[];
  /** False where the source records no inner instructions, which does not mean that there were none. */
  innerTold: boolean;
  logs: string[] | null;
  tokensBefore: readonly TokenAmount[];
  tokensAfter: readonly TokenAmount[];
}
