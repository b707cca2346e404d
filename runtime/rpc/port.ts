import type { RpcAccount, SignatureInfo, SlotBounds } from './replies.ts';

export type Commitment = 'confirmed' | 'finalized';

export interface ReadOptions extends SlotBounds {
  commitment?: Commitment;
  /** Of signatures: a node answers that keeps history from this slot on. */
  keptFrom?: bigint;
  /** Likewise, one that made the blocks about this slot: it has not jumped over them. */
  madeAt?: bigint;
  /** Waited for before each request that these two add to that for the list. */
  pace?: () => Promise<void>;
  /** Of a transaction: where one node tells it in another slot, another is asked. */
  inSlot?: bigint;
  /** Of each account no more than its first bytes. */
  mostBytes?: number;
  /** Of a program's accounts those that begin so. */
  prefix?: Uint8Array;
}

/** JSON-RPC nodes, by the methods that the service uses. Addresses are base58; every call throws RpcError. */
export interface Rpc {
  getAccountInfo(
    address: string,
    options?: ReadOptions,
  ): Promise<{ slot: bigint; account: RpcAccount | null }>;
  /** At most 100 addresses; answers in their order. */
  getMultipleAccounts(
    addresses: readonly string[],
    options?: ReadOptions,
  ): Promise<{ slot: bigint; accounts: (RpcAccount | null)[] }>;
  getProgramAccounts(
    program: string,
    options?: ReadOptions,
  ): Promise<{ slot: bigint; accounts: { address: string; account: RpcAccount }[] }>;
  /** Newest first, at most 1000. */
  getSignaturesForAddress(
    address: string,
    before: string | null,
    limit: number,
    options?: ReadOptions,
  ): Promise<SignatureInfo[]>;
  /**
   * The result as it came, of whatever version the node takes, or null where no node has it. Where none tells it whole it
   * is the one that tells most.
   */
  getTransaction(signature: string, options?: ReadOptions): Promise<Record<string, unknown> | null>;
  getSlot(options?: ReadOptions): Promise<bigint>;
  /** Unix seconds, or null where no node that answers knows. */
  getBlockTime(slot: bigint): Promise<number | null>;
  getFirstAvailableBlock(): Promise<bigint>;
}

/** One of several nodes, alone. */
export interface NodeRpc extends Rpc {
  /** Its place among the addresses, from 1, and how many there are. */
  number: number;
  of: number;
}

/** Nodes each of which can be looked at before it is asked. */
export interface RpcNodes extends Rpc {
  /** Each of them, for what no other is to answer. */
  alone: readonly NodeRpc[];
  /** The same nodes; one whose check throws an RpcError counts as one that has failed with it. */
  checked(check: (node: NodeRpc) => Promise<void>): Rpc;
}

/** Until when each node, by its address, wants to be left alone, by the clock of `performance.now()`. */
export type NodeWaits = Map<string, number>;

export interface RpcOptions {
  commitment: Commitment;
  timeoutMs?: number;
  /** Bound of a reply below each method's own. */
  maxBytes?: number;
  /** Shared by all that ask the same nodes, each in its own way; without it nobody else's waits count. */
  waits?: NodeWaits;
}
