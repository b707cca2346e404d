import { decodeBase58, decodeKey, encodeBase58 } from '../../schemas/base58.ts';
import type { Ledger, StoredAccount } from '../chain/ledger.ts';
import { FINALIZED_BEHIND } from '../geyser/subscriber.ts';
import { errorJson, transactionJson } from './transaction.ts';

/** An error of the JSON-RPC protocol. */
export class RpcFault extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface MethodContext {
  ledger: Ledger;
  /** Slots by which this node says it is behind. */
  behind(): bigint;
  withIndex: boolean;
}

type Method = (params: unknown[], context: MethodContext) => unknown;
type Config = {
  commitment?: string;
  minContextSlot?: number;
  limit?: number;
  before?: string;
  until?: string;
};

const TOKEN_ACCOUNT_SIZE = 165;

function key(value: unknown): Uint8Array {
  const bytes = typeof value === 'string' ? decodeKey(value) : null;
  if (bytes === null) throw new RpcFault(-32602, 'Invalid param: WrongSize');
  return bytes;
}

function contextSlot(context: MethodContext, config: Config | undefined): bigint {
  const tip = context.ledger.tip().slot - context.behind();
  const slot =
    config?.commitment === 'confirmed' || config?.commitment === 'processed' ? tip : tip - FINALIZED_BEHIND;
  const seen = slot < 0n ? 0n : slot;
  if (config?.minContextSlot !== undefined && seen < BigInt(config.minContextSlot)) {
    throw new RpcFault(-32016, 'Minimum context slot has not been reached');
  }
  return seen;
}

function accountJson(account: StoredAccount | null): object | null {
  if (account === null || account.lamports === 0n) return null;
  return {
    data: [Buffer.from(account.data).toString('base64'), 'base64'],
    executable: account.executable,
    lamports: Number(account.lamports),
    owner: encodeBase58(account.owner),
    rentEpoch: 0,
    space: account.data.length,
  };
}

const withContext = (slot: bigint, value: unknown) => ({
  context: { apiVersion: '3.0.0', slot: Number(slot) },
  value,
});

/** The methods that the service uses, and no others. */
export const METHODS: Record<string, Method> = {
  getAccountInfo: ([address, config], context) => {
    const slot = contextSlot(context, config as Config);
    return withContext(slot, accountJson(context.ledger.account(key(address))));
  },
  getMultipleAccounts: ([addresses, config], context) => {
    const list = addresses as unknown[];
    if (!Array.isArray(list) || list.length > 100)
      throw new RpcFault(-32602, 'Too many inputs provided; max 100');
    const slot = contextSlot(context, config as Config);
    return withContext(
      slot,
      list.map((address) => accountJson(context.ledger.account(key(address)))),
    );
  },
  getProgramAccounts: ([program, config], context) => {
    const slot = contextSlot(context, config as Config);
    const accounts = context.ledger
      .accountsByOwner(key(program))
      .map((account) => ({ pubkey: encodeBase58(account.address), account: accountJson(account) }));
    return (config as { withContext?: boolean } | undefined)?.withContext === true
      ? withContext(slot, accounts)
      : accounts;
  },
  getTokenAccountBalance: ([address, config], context) => {
    const slot = contextSlot(context, config as Config);
    const account = context.ledger.account(key(address));
    if (account === null || account.data.length < TOKEN_ACCOUNT_SIZE) {
      throw new RpcFault(-32602, 'Invalid param: could not find account');
    }
    const amount = Buffer.from(account.data).readBigUInt64LE(64);
    const mint = context.ledger.account(account.data.subarray(0, 32));
    const decimals = mint?.data[44] ?? 0;
    return withContext(slot, { amount: amount.toString(), decimals, uiAmount: null, uiAmountString: '' });
  },
  getSignaturesForAddress: ([address, config], context) => {
    const { limit = 1000, before } = (config ?? {}) as Config;
    const slot = contextSlot(context, config as Config);
    const from = before === undefined ? null : decodeBase58(before);
    return context.ledger
      .signaturesFor(key(address), from, Math.min(limit, 1000))
      .filter((entry) => entry.slot <= slot)
      .map((entry) => ({
        signature: encodeBase58(entry.signature),
        slot: Number(entry.slot),
        err: errorJson(entry),
        memo: null,
        blockTime: entry.blockTime,
        confirmationStatus: 'confirmed',
      }));
  },
  getTransaction: ([signature, config], context) => {
    const bytes = typeof signature === 'string' ? decodeBase58(signature) : null;
    if (bytes?.length !== 64) throw new RpcFault(-32602, 'Invalid param: WrongSize');
    const found = context.ledger.transaction(bytes);
    if (found === null || found.block.slot > contextSlot(context, config as Config)) return null;
    return transactionJson(found.block, found.tx, context.withIndex);
  },
  getSlot: ([config], context) => Number(contextSlot(context, config as Config)),
  getBlockTime: ([slot], context) => {
    const wanted = BigInt(slot as number);
    if (wanted > context.ledger.tip().slot)
      throw new RpcFault(-32004, `Block not available for slot ${wanted}`);
    if (context.ledger.block(wanted) === null) throw new RpcFault(-32009, `Slot ${wanted} was skipped`);
    return context.ledger.timeOf(wanted);
  },
  getFirstAvailableBlock: (_, context) => Number(context.ledger.firstSlot),
};
