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
  maxBytes?: number;
}

export function createRpc(url: string, options: RpcOptions): Rpc {
  const { timeoutMs = 15_000, maxBytes = 512 * 1024 * 1024 } = options;
  let id = 0;

  async function call(method: string, params: unknown[]): Promise<unknown> {
    id += 1;
    let reply: { result?: unknown; error?: { code?: unknown; message?: unknown } };
    try {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      const headers = { 'content-type': 'application/json' };
      const { status, bytes } = await fetchBounded(url, {
        method: 'POST',
        body,
        headers,
        timeoutMs,
        maxBytes,
      });
      reply = JSON.parse(Buffer.from(bytes).toString('utf8')) as typeof reply;
      if (reply === null || typeof reply !== 'object')
        throw new TypeError(`HTTP ${status} without a JSON-RPC reply`);
    } catch (error) {
      throw new RpcError('unreachable', `${method}: ${messageOf(error)}`, null, error);
    }
    if (reply.error !== undefined && reply.error !== null) {
      const code = Number(reply.error.code);
      throw new RpcError(
        code === BEHIND ? 'behind' : 'refused',
        `${method}: ${String(reply.error.message)}`,
        code,
      );
    }
    if (!('result' in reply)) throw new RpcError('unreachable', `${method}: a reply without a result`);
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
      return (await call('getTransaction', [signature, config({}, more)])) as Record<string, unknown> | null;
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
