import type { TypedEvent } from '../program/state/events.ts';

/** The chain as its servers see it: everything raw, as a node would hold it. All calls are synchronous. */

/** The state of an account after the last write of it in a slot. `lamports` 0: the account was closed. */
export interface AccountWrite {
  address: Uint8Array;
  owner: Uint8Array;
  lamports: bigint;
  data: Uint8Array;
  executable: boolean;
  writeVersion: bigint;
  /** Of the transaction that wrote it; null for what stood at genesis. */
  signature: Uint8Array | null;
}

export type StoredAccount = AccountWrite & { slot: bigint };

export interface CompiledInstruction {
  /** Index into accountKeys, then loaded.writable, then loaded.readonly. */
  programIdIndex: number;
  accounts: number[];
  data: Uint8Array;
}

export interface InnerInstruction extends CompiledInstruction {
  /** 2 for what a top-level instruction called itself. */
  stackHeight: number;
}

export interface TransactionMessage {
  accountKeys: Uint8Array[];
  header: { numRequiredSignatures: number; numReadonlySigned: number; numReadonlyUnsigned: number };
  recentBlockhash: Uint8Array;
  instructions: CompiledInstruction[];
  /** Present (possibly empty) for a version 0 message, absent for a legacy one. */
  lookups?: { table: Uint8Array; writable: number[]; readonly: number[] }[];
}

/** Amounts of a token account before and after a transaction; null where it did not exist. Keys are base58. */
export interface TokenBalance {
  /** Index as in CompiledInstruction. */
  accountIndex: number;
  mint: string;
  owner: string;
  program: string;
  decimals: number;
  before: bigint | null;
  after: bigint | null;
}

export interface LedgerTransaction {
  signature: Uint8Array;
  index: number;
  /** Name of the error, or null. */
  failed: string | null;
  /** Where it failed: index of the top-level instruction, and the custom error code. */
  failure: { instruction: number; code: number } | null;
  message: TransactionMessage;
  /** Addresses from lookup tables, in the order of the indexes above. */
  loaded: { writable: Uint8Array[]; readonly: Uint8Array[] };
  inner: { index: number; instructions: InnerInstruction[] }[];
  tokenBalances: TokenBalance[];
  /** What getTransaction answers. */
  logs: string[];
  /** What the stream carries: the same, or the same cut short with `Log truncated`. */
  streamLogs: string[];
  /** Events of the bankroll program in execution order; empty when failed. */
  events: TypedEvent[];
  /** Policy accounts that an instruction of the bankroll program was given as writable, base58. */
  writablePolicies: string[];
  /** Whether an instruction of the bankroll program is in the tree at all. */
  ours: boolean;
}

export interface Block {
  slot: bigint;
  /** The block before; slots between the two were skipped. */
  parent: bigint;
  /** Unix seconds. */
  blockTime: number;
  blockhash: Uint8Array;
  parentBlockhash: Uint8Array;
  transactions: LedgerTransaction[];
  /** One entry per account, its last state in the slot, ascending writeVersion. */
  writes: AccountWrite[];
}

export interface SignatureEntry {
  signature: Uint8Array;
  slot: bigint;
  blockTime: number;
  index: number;
  failed: string | null;
  failure: LedgerTransaction['failure'];
}

export interface Ledger {
  /** The newest block; a fresh chain has a genesis block without transactions. */
  tip(): Block;
  firstSlot: bigint;
  /** Null for a skipped slot and for one that is not there yet. */
  block(slot: bigint): Block | null;
  /** Block time of any slot, in unix seconds. */
  timeOf(slot: bigint): number;
  /** Latest state; a closed account answers with no lamports, one never seen null. */
  account(address: Uint8Array): StoredAccount | null;
  /** Accounts that exist and belong to `owner`, at the tip. */
  accountsByOwner(owner: Uint8Array): StoredAccount[];
  /** Slot in which an account was first written; null: never. */
  firstWrite(address: Uint8Array): bigint | null;
  /** Newest first; `before` excludes that signature and everything newer. Unknown `before`: nothing. */
  signaturesFor(address: Uint8Array, before: Uint8Array | null, limit: number): SignatureEntry[];
  transaction(signature: Uint8Array): { block: Block; tx: LedgerTransaction } | null;
  /** Calls the listener with each block once it is durable. Returns a function that ends this. */
  subscribe(listener: (block: Block) => void): () => void;
}
