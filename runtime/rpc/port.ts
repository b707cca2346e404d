import type { RpcAccount, SignatureInfo, SlotBounds } from './replies.ts';

export type Commitment = 'confirmed' | 'finalized';

export interface ReadOptions extends SlotBounds {
  /** For signatures: only a node that keeps history from this slot on may answer. */
  keptFrom?: bigint;
  /** For signatures: only a node that has processed the blocks about this slot, not jumped over them, may answer. */
  processedAt?: bigint;
  /** Awaited before each request that keptFrom and processedAt add to the one for the list. */
  pace?: () => Promise<void>;
  /** For a transaction: where a node has it in another slot, another node is asked. */
  inSlot?: bigint;
  /** For accounts: at most so many of their first bytes are read. */
  mostBytes?: number;
  /** For a program's accounts: only those whose data begins with these bytes. */
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
   * The result as it came, in whatever version the node takes, or null where no node has it. Where no node tells all of
   * it, the result of the one that tells most.
   */
  getTransaction(signature: string, options?: ReadOptions): Promise<Record<string, unknown> | null>;
  getSlot(options?: ReadOptions): Promise<bigint>;
  /** Unix seconds, or null where no node that answers knows. */
  getBlockTime(slot: bigint): Promise<number | null>;
  getFirstAvailableBlock(): Promise<bigint>;
}

/** One single node out of several. */
export interface NodeRpc extends Rpc {
  /** Its place among the addresses, from 1, and how many there are. */
  number: number;
  of: number;
}

/** Nodes each of which can be looked at before it is asked. */
export interface RpcNodes extends Rpc {
  /** Each node by itself, for questions that no other is to answer. */
  alone: readonly NodeRpc[];
  /** The same nodes, each checked before it is asked: an RpcError of the check counts as the node's own failure. */
  checked(check: (node: NodeRpc) => Promise<void>): Rpc;
}

/** Until when each node, by its address, wants to be left alone, by the clock of `performance.now()`. */
export type NodeWaits = Map<string, number>;

export interface RpcOptions {
  commitment: Commitment;
  timeoutMs?: number;
  /** Bound of a reply, where it is below the method's own. */
  maxBytes?: number;
  /** Shared by the clients of the same nodes, so that each heeds the waits that others were asked for. */
  waits?: NodeWaits;
}
