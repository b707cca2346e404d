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

/** A transaction as it ran, whichever source it came from. */
export interface ChainTransaction {
  failed: boolean;
  /** Every call in execution order, top-level and inner. */
  calls: Call[];
  /** Null where the source has none. */
  logs: string[] | null;
}

export interface Instruction {
  programIdIndex: number;
  /** Indexes into the keys. */
  accounts: ArrayLike<number>;
  data: Uint8Array;
  /** 2 and up for an inner one; sources older than it leave it out. */
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
  logs: string[] | null;
}
