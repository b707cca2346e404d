import { decodeBase58, decodeKey } from '../../schemas/solana/base58.ts';
import { blockTimeOf } from '../../schemas/solana/block-time.ts';
import { messageOf } from '../errors.ts';
import { RpcError } from './error.ts';

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

/** A reply of another shape is as good as none; one that was cut short may come whole the next time. */
export function parseReply<T>(method: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof RpcError) throw cause;
    throw new RpcError('unreachable', `${method}: an unsound reply: ${messageOf(cause)}`, {
      retryOn: 'anyNode',
      cause,
    });
  }
}

/** Bounds of the slot that an answer may be of, both included. */
export interface SlotBounds {
  /** The answer must be of this slot or a later one. */
  minContextSlot?: bigint;
  /** For accounts: the answer must not be of a later slot than this, which the chain has not come to. */
  mostContextSlot?: bigint;
}

/** At 400 ms a slot a chain comes to this one in twelve thousand years: a state of a later one would stand for ever. */
const MOST_SLOT = 1e12;

export function slotOf(value: unknown): bigint {
  if (!Number.isSafeInteger(value) || (value as number) < 0 || (value as number) > MOST_SLOT)
    throw new TypeError('no slot');
  return BigInt(value as number);
}

/**
 * @throws RpcError where the answer is older than was asked for, as from a cache or a node that ignores minContextSlot;
 * or where it is of a slot that the chain has not come to: it would count as newer than all that follows.
 */
export function contextSlot(
  result: unknown,
  { minContextSlot: least, mostContextSlot: most }: SlotBounds = {},
): bigint {
  const slot = slotOf((result as { context: { slot: unknown } }).context.slot);
  if (least !== undefined && slot < least)
    throw new RpcError('behind', `an answer of slot ${slot} where ${least} was the least`);
  if (most !== undefined && slot > most)
    throw new RpcError('unreachable', `an answer of slot ${slot} where ${most} was the most`);
  return slot;
}

export function parseAccount(value: unknown): RpcAccount | null {
  if (value === null) return null;
  const { owner, lamports, data } = value as { owner: string; lamports: number; data: [string, string] };
  const key = decodeKey(owner);
  if (key === null || data[1] !== 'base64') throw new TypeError('an account without owner or base64 data');
  const held = BigInt(lamports);
  if (held < 0n || held >= 1n << 64n) throw new TypeError('lamports out of range');
  return { owner: key, lamports: held, data: base64(data[0]) };
}

/** The decoder skips characters that are not base64 and accepts text that was cut: the length shows both. */
function base64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  if (bytes.length !== (text.length / 4) * 3 - padding) throw new TypeError('data that is no base64');
  return bytes;
}

export function parseOwnedAccount(value: unknown): { address: string; account: RpcAccount } {
  const { pubkey: address, account: state } = value as { pubkey: string; account: unknown };
  const read = parseAccount(state);
  if (decodeKey(address) === null) throw new TypeError('an address is no public key');
  if (read === null) throw new TypeError('an account that is owned and not there');
  return { address, account: read };
}

function signatureInfo(value: unknown): SignatureInfo {
  const { signature, slot, blockTime, err } = value as Record<string, unknown>;
  if (typeof signature !== 'string' || decodeBase58(signature)?.length !== 64)
    throw new TypeError('no signature');
  return {
    signature,
    slot: slotOf(slot),
    blockTime: blockTimeOf(blockTime),
    failed: err !== null && err !== undefined,
  };
}

/** A whole page, newest first: one that is not in order leaves something out. */
export function signaturePage(value: unknown, limit: number): SignatureInfo[] {
  const page = (value as unknown[]).map(signatureInfo);
  if (page.length > limit) throw new TypeError(`${page.length} signatures where ${limit} were asked for`);
  page.forEach(({ slot }, at) => {
    if (at > 0 && slot > (page[at - 1] as SignatureInfo).slot) throw new TypeError('signatures out of order');
  });
  return page;
}

/** @throws RpcError where it is another transaction than was asked for: a cache may hand that out. */
export function transactionOf(value: unknown, signature: string): Record<string, unknown> | null {
  if (value === null) return null;
  if (!isObject(value)) throw new TypeError('no object');
  const signatures = isObject(value.transaction) ? value.transaction.signatures : null;
  if (Array.isArray(signatures) && signatures[0] !== signature)
    throw new RpcError('unreachable', `getTransaction: another than ${signature}`);
  return value;
}

/** How much of a transaction a node's answer holds, the least first. */
export const COMPLETENESS = { ofAnotherSlot: 0, half: 1, unrecorded: 2, whole: 3 } as const;

/**
 * @param inSlot the slot that the transaction must be in: a node's index may name one that it was in on a fork. Null
 * where the question is whether a node has it, and in which slot: then the first node that has it decides.
 */
export function completenessOf(found: Record<string, unknown>, inSlot: bigint | null): number {
  const { slot, meta, transaction } = found;
  const recorded = isRecorded(found) ? COMPLETENESS.whole : COMPLETENESS.unrecorded;
  if (inSlot === null) return recorded;
  if (slot !== undefined && slot !== Number(inSlot)) return COMPLETENESS.ofAnotherSlot;
  if (!isObject(meta) || !isObject(transaction) || !Array.isArray(transaction.signatures))
    return COMPLETENESS.half;
  return isObject(transaction.message) && tellsLoaded(transaction.message, meta)
    ? recorded
    : COMPLETENESS.half;
}

/** Whether the answer holds as many accounts as the message takes from lookup tables. */
function tellsLoaded(message: Record<string, unknown>, meta: Record<string, unknown>): boolean {
  const loaded = isObject(meta.loadedAddresses) ? meta.loadedAddresses : {};
  const lookups = Array.isArray(message.addressTableLookups) ? message.addressTableLookups : [];
  const lookedUp = lookups
    .filter(isObject)
    .reduce((sum, one) => sum + lengthOf(one.writableIndexes) + lengthOf(one.readonlyIndexes), 0);
  return lengthOf(loaded.writable) + lengthOf(loaded.readonly) >= lookedUp;
}

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

/** Whether a node recorded what a transaction did: its logs and inner instructions. A failed one did nothing. */
export function isRecorded({ meta }: Record<string, unknown>): boolean {
  if (typeof meta !== 'object' || meta === null) return true;
  const { err, innerInstructions, logMessages } = meta as Record<string, unknown>;
  return err !== null || (Array.isArray(innerInstructions) && Array.isArray(logMessages));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
