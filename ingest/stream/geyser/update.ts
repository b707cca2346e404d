import { SlotStatus, SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { blockIndexOf } from '../../../schemas/solana/block-index.ts';
import { blockTimeOf } from '../../../schemas/solana/block-time.ts';
import { wireFields } from './protobuf.ts';

export interface AccountUpdate {
  type: 'account';
  slot: bigint;
  address: Uint8Array;
  owner: Uint8Array;
  lamports: bigint;
  data: Uint8Array;
  writeVersion: bigint;
  signature: Uint8Array | null;
  /** It proves no more than a reading over RPC does: what the account was before it nobody saw. */
  isReading?: true;
}

export interface TransactionUpdate {
  type: 'transaction';
  slot: bigint;
  signature: Uint8Array;
  index: number;
  /** SubscribeUpdateTransactionInfo as received. */
  payload: Uint8Array;
  /** Another payload was received for the same transaction in that slot. */
  disputed?: true;
}

export type SlotState = 'processed' | 'confirmed' | 'finalized' | 'dead' | 'other';

/** An update of the stream, of the kinds that we ask for. */
export type Update =
  | AccountUpdate
  | TransactionUpdate
  | { type: 'slot'; slot: bigint; parent: bigint | null; state: SlotState }
  /** `filter`: name of the filter that it matched, which shows by which request the server works. */
  | {
      type: 'blockMeta';
      slot: bigint;
      parent: bigint;
      blockTime: number | null;
      filter?: string;
      /** Absent where it is not base58 of 32 bytes. */
      blockhash?: string;
    }
  /** Nothing of it can be read but its slot. */
  | { type: 'unreadable'; of: 'account' | 'transaction'; slot: bigint }
  | { type: 'ping' }
  | { type: 'other' };

const ACCOUNT = 2;
const TRANSACTION = 4;
const SLOT = 2;
const IS_STARTUP = 3;

const STATES: Partial<Record<SlotStatus, SlotState>> = {
  [SlotStatus.SLOT_PROCESSED]: 'processed',
  [SlotStatus.SLOT_CONFIRMED]: 'confirmed',
  [SlotStatus.SLOT_FINALIZED]: 'finalized',
  [SlotStatus.SLOT_DEAD]: 'dead',
};

/** No JSON-RPC node could be asked for a later one. */
const MOST_SLOT = BigInt(Number.MAX_SAFE_INTEGER);
/**
 * An epoch: no chain skips so many slots in a row. Once a slot behind such a jump was released, every true slot would
 * come late.
 */
const MOST_SKIPPED = 432_000n;

/**
 * Reads a SubscribeUpdate. Accounts and transactions, the bulk, are read by hand and stay views of the bytes.
 * @throws Error where the bytes are no message, or none that says its slot.
 */
export function readUpdate(bytes: Uint8Array): Update {
  for (const { number, value } of wireFields(bytes)) {
    if (!(value instanceof Uint8Array)) continue;
    if (number === ACCOUNT) return legible('account', value, readAccount);
    if (number === TRANSACTION) return legible('transaction', value, readTransaction);
  }
  const update = SubscribeUpdate.decode(bytes);
  if (update.slot !== undefined) {
    const { parent, status } = update.slot;
    const slot = BigInt(update.slot.slot);
    if (slot > MOST_SLOT) return { type: 'other' };
    return {
      type: 'slot',
      slot,
      parent: parent === undefined ? null : BigInt(parent),
      state: STATES[status] ?? 'other',
    };
  }
  if (update.blockMeta !== undefined) {
    const { blockTime, blockhash } = update.blockMeta;
    const [slot, parent] = [BigInt(update.blockMeta.slot), BigInt(update.blockMeta.parentSlot)];
    const isOfAChain = slot <= MOST_SLOT && (parent === 0n || slot <= parent + MOST_SKIPPED);
    if (!isOfAChain) return { type: 'other' };
    return {
      ...{ type: 'blockMeta', slot, parent },
      blockTime: blockTimeOf(Number(blockTime?.timestamp)),
      filter: update.filters[0] ?? '',
      // Servers of one provider may encode it in different ways: only base58 ones are compared.
      ...(decodeKey(blockhash) === null ? {} : { blockhash }),
    };
  }
  return { type: update.ping === undefined ? 'other' : 'ping' };
}

/**
 * Whether the parent is missing, so that the slot cannot be put in order; only the first slots of a chain need none.
 */
export const isParentless = ({ slot, parent }: { slot: bigint; parent: bigint }): boolean =>
  parent === 0n && slot > 1n;

export const PARENTLESS = 'block metas come without their parent';

const NONE = new Uint8Array(0);
const bytesOf = (value: bigint | Uint8Array) => (value instanceof Uint8Array ? value : NONE);
const numberOf = (value: bigint | Uint8Array) => (typeof value === 'bigint' ? value : 0n);

/**
 * Reads an account or a transaction; where only the slot can be read, the update is `unreadable`. Both messages have
 * the slot in the same field.
 */
function legible(
  of: 'account' | 'transaction',
  message: Uint8Array,
  read: (message: Uint8Array) => Update,
): Update {
  try {
    return read(message);
  } catch (error) {
    for (const { number, value } of wireFields(message)) {
      if (number === SLOT && typeof value === 'bigint' && value <= MOST_SLOT)
        return { type: 'unreadable', of, slot: value };
    }
    throw error;
  }
}

function readAccount(message: Uint8Array): AccountUpdate {
  const update: AccountUpdate = {
    type: 'account',
    slot: 0n,
    address: NONE,
    owner: NONE,
    lamports: 0n,
    data: NONE,
    writeVersion: 0n,
    signature: null,
  };
  for (const outer of wireFields(message)) {
    if (outer.number === SLOT) update.slot = numberOf(outer.value);
    // A state from the snapshot that the server started from: it was not written in that slot.
    if (outer.number === IS_STARTUP && numberOf(outer.value) === 1n) update.isReading = true;
    if (outer.number !== 1) continue;
    for (const { number, value } of wireFields(bytesOf(outer.value))) {
      if (number === 1) update.address = bytesOf(value);
      else if (number === 2) update.lamports = numberOf(value);
      else if (number === 3) update.owner = bytesOf(value);
      else if (number === 6) update.data = bytesOf(value);
      else if (number === 7) update.writeVersion = numberOf(value);
      else if (number === 8 && bytesOf(value).length === 64) update.signature = bytesOf(value);
    }
  }
  if (update.address.length !== 32 || update.owner.length !== 32)
    throw new Error('an account update without keys');
  if (update.slot > MOST_SLOT) throw new Error('an account update of a slot that no chain has');
  return update;
}

function readTransaction(message: Uint8Array): TransactionUpdate {
  const update: TransactionUpdate = {
    type: 'transaction',
    slot: 0n,
    signature: NONE,
    index: 0,
    payload: NONE,
  };
  for (const { number, value } of wireFields(message)) {
    if (number === 1) update.payload = bytesOf(value);
    else if (number === SLOT) update.slot = numberOf(value);
  }
  for (const { number, value } of wireFields(update.payload)) {
    if (number === 1) update.signature = bytesOf(value);
    else if (number === 5) update.index = Number(numberOf(value));
  }
  if (update.signature.length !== 64) throw new Error('a transaction update without a signature');
  if (update.slot > MOST_SLOT) throw new Error('a transaction update of a slot that no chain has');
  if (blockIndexOf(update.index) === null)
    throw new Error('a transaction update of an index that no block has');
  return update;
}
