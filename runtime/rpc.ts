import { decodeBase58, decodeKey } from '../schemas/base58.ts';
import { messageOf } from './errors.ts';
import { fetchBounded } from './fetch.ts';

export type Commitment = 'confirmed' | 'finalized';

export interface RpcAccount {
  owner: Uint8Array;
  lamports: bigint;
  data: Uint8Array;
}

export interface SignatureInfo {
  signature: string;
  slot: bigint;
  blockTime: number | null;
  failed: boolean;
}

export interface ReadOptions {
  commitment?: Commitment;
  /** The answer must be of this slot or a later one. */
  minContextSlot?: bigint;
}

/** `unreachable`: no or no sound answer. `behind`: the node has not reached minContextSlot. `refused`: its own error. */
export class RpcError extends Error {
  override name = 'RpcError';
  readonly kind: 'unreachable' | 'behind' | 'refused';
  readonly code: number | null;

  constructor(kind: RpcError['kind'], message: string, code: number | null = null, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
    this.code = code;
  }
}

/** A JSON-RPC node, by the methods that the service uses. Addresses are base58; every call throws RpcError. */
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
  getSignaturesForAddress(address: string, before: string | null, limit: number): Promise<SignatureInfo[]>;
  /** The result as it came, or null where the node does not have it. */
  getTransaction(signature: string): Promise<Record<string, unknown> | null>;
  getSlot(): Promise<bigint>;
  /** Unix seconds, or null where the node does not know. */
  getBlockTime(slot: bigint): Promise<number | null>;
  getFirstAvailableBlock(): Promise<bigint>;
}

const BEHIND = -32016;
/** Codes that say that a slot was skipped or its block is gone: there is no time to be had. */
const NO_BLOCK = new Set([-32001, -32004, -32007, -32009, -32011, -32014]);

export interface RpcOptions {
  commitment: Commitment;
  timeoutMs?: number;
  /** Bound of a reply below each method's own. */
  maxBytes?: number;
}

const MB = 1024 * 1024;
/** What a sound reply stays below: an account holds up to 10 MB, a third more in base64. */
const MAX_BYTES: Record<keyof Rpc, number> = {
  getAccountInfo: 16 * MB,
  getMultipleAccounts: 128 * MB,
  getProgramAccounts: 512 * MB,
  getSignaturesForAddress: 4 * MB,
  getTransaction: 16 * MB,
  getSlot: 16 * 1024,
  getBlockTime: 16 * 1024,
  getFirstAvailableBlock: 16 * 1024,
};

/** @param url of a JSON-RPC node; its credentials never show in an error. */
export function createRpc(url: string, options: RpcOptions): Rpc {
  const { timeoutMs = 15_000, maxBytes = Number.POSITIVE_INFINITY } = options;
  let id = 0;

  async function call(method: keyof Rpc, params: unknown[]): Promise<unknown> {
    id += 1;
    let reply: RpcReply;
    try {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      const headers = { 'content-type': 'application/json' };
      const { status, bytes } = await fetchBounded(url, {
        method: 'POST',
        body,
        headers,
        timeoutMs,
        maxBytes: Math.min(maxBytes, MAX_BYTES[method]),
      });
      reply = replyOf(status, bytes);
    } catch (error) {
      throw new RpcError('unreachable', `${method}: ${messageOf(error)}`, null, error);
    }
    if (reply.error !== undefined && reply.error !== null) {
      const { code, message } = reply.error;
      throw new RpcError(
        code === BEHIND ? 'behind' : 'refused',
        `${method}: ${String(message).slice(0, MOST_MESSAGE)}`,
        typeof code === 'number' ? code : null,
      );
    }
    return reply.result;
  }

  const config = (read: ReadOptions = {}, more: Record<string, unknown> = {}) => ({
    commitment: read.commitment ?? options.commitment,
    ...(read.minContextSlot === undefined ? {} : { minContextSlot: Number(read.minContextSlot) }),
    ...more,
  });
  const base64 = (read?: ReadOptions, more = {}) => config(read, { encoding: 'base64', ...more });

  return {
    getAccountInfo: async (address, read) => {
      const result = await call('getAccountInfo', [address, base64(read)]);
      return sound('getAccountInfo', () => ({
        slot: contextSlot(result),
        account: account((result as { value: unknown }).value),
      }));
    },
    getMultipleAccounts: async (addresses, read) => {
      const result = await call('getMultipleAccounts', [addresses, base64(read)]);
      return sound('getMultipleAccounts', () => {
        const values = (result as { value: unknown[] }).value;
        if (values.length !== addresses.length)
          throw new TypeError(`${values.length} of ${addresses.length} accounts`);
        return { slot: contextSlot(result), accounts: values.map(account) };
      });
    },
    getProgramAccounts: async (program, read) => {
      const result = await call('getProgramAccounts', [program, base64(read, { withContext: true })]);
      return sound('getProgramAccounts', () => ({
        slot: contextSlot(result),
        accounts: (result as { value: { pubkey: string; account: unknown }[] }).value.map((entry) => {
          if (decodeKey(entry.pubkey) === null) throw new TypeError('an address is no public key');
          return { address: entry.pubkey, account: account(entry.account) as RpcAccount };
        }),
      }));
    },
    getSignaturesForAddress: async (address, before, limit) => {
      const more = before === null ? { limit } : { limit, before };
      const result = await call('getSignaturesForAddress', [address, config({}, more)]);
      return sound('getSignaturesForAddress', () => (result as unknown[]).map(signatureInfo));
    },
    getTransaction: async (signature) => {
      const more = { encoding: 'json', maxSupportedTransactionVersion: 0 };
      const result = await call('getTransaction', [signature, config({}, more)]);
      if (typeof result !== 'object' || Array.isArray(result))
        throw new RpcError('unreachable', 'getTransaction: an unsound reply: no object');
      return result as Record<string, unknown> | null;
    },
    getSlot: async () => {
      const result = await call('getSlot', [config()]);
      return sound('getSlot', () => slotOf(result));
    },
    getBlockTime: async (slot) => {
      try {
        const result = await call('getBlockTime', [Number(slot)]);
        return Number.isSafeInteger(result) ? (result as number) : null;
      } catch (error) {
        if (error instanceof RpcError && error.code !== null && NO_BLOCK.has(error.code)) return null;
        throw error;
      }
    },
    getFirstAvailableBlock: async () => {
      const result = await call('getFirstAvailableBlock', []);
      return sound('getFirstAvailableBlock', () => slotOf(result));
    },
  };
}

interface RpcReply {
  result?: unknown;
  error?: { code?: unknown; message?: unknown } | null;
}

const MOST_MESSAGE = 500;

/** A reply with an error of its own counts whatever its status; a gateway's page or a plain text does not. */
function replyOf(status: number, bytes: Uint8Array): RpcReply {
  let reply: unknown;
  try {
    reply = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw new TypeError(`HTTP ${status} without JSON`);
  }
  const { result, error } = (typeof reply === 'object' && reply !== null ? reply : {}) as Record<
    string,
    unknown
  >;
  if (typeof error === 'object' && error !== null) return { error };
  if (status !== 200 || result === undefined) throw new TypeError(`HTTP ${status} without a JSON-RPC reply`);
  return { result };
}

/** A reply of another shape is as good as none. */
function sound<T>(method: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new RpcError('unreachable', `${method}: an unsound reply: ${messageOf(error)}`, null, error);
  }
}

function slotOf(value: unknown): bigint {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new TypeError('no slot');
  return BigInt(value as number);
}

function contextSlot(result: unknown): bigint {
  return slotOf((result as { context: { slot: unknown } }).context.slot);
}

function account(value: unknown): RpcAccount | null {
  if (value === null) return null;
  const { owner, lamports, data } = value as { owner: string; lamports: number; data: [string, string] };
  const key = decodeKey(owner);
  if (key === null || data[1] !== 'base64') throw new TypeError('an account without owner or base64 data');
  return { owner: key, lamports: BigInt(lamports), data: Buffer.from(data[0], 'base64') };
}

function signatureInfo(value: unknown): SignatureInfo {
  const { signature, slot, blockTime, err } = value as Record<string, unknown>;
  if (typeof signature !== 'string' || decodeBase58(signature)?.length !== 64)
    throw new TypeError('no signature');
  return {
    signature,
    slot: slotOf(slot),
    blockTime: Number.isSafeInteger(blockTime) ? (blockTime as number) : null,
    failed: err !== null && err !== undefined,
  };
}
