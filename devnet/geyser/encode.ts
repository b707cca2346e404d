import {
  type SlotStatus,
  SubscribeUpdate,
  SubscribeUpdateAccount,
  SubscribeUpdateTransaction,
} from '@triton-one/yellowstone-grpc';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { byteKey } from '../../schemas/solana/byte-key.ts';
import { tokenAmount } from '../bytes/token-amount.ts';
import type { AccountWrite, Block, LedgerTransaction } from '../chain/ledger.ts';

/** An update without its filter names, ready to be sent to any subscriber. */
export interface EncodedUpdate {
  bytes: Buffer;
  /** Field number of the update inside SubscribeUpdate. */
  field: number;
}

export interface EncodedAccount extends EncodedUpdate {
  address: string;
  owner: string;
}

export interface EncodedTransaction extends EncodedUpdate {
  /** Every account the transaction names, as byte keys. */
  accounts: Set<string>;
  failed: boolean;
}

export interface EncodedBlock {
  accounts: EncodedAccount[];
  transactions: EncodedTransaction[];
  meta: EncodedUpdate;
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
}

/** A length-delimited field of a protobuf message. */
export function field(number: number, message: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(message.length)]), message]);
}

/** A whole update: the names of the subscriber's filters that matched, then the bytes that subscribers share. */
export function withFilters(update: EncodedUpdate, filters: readonly string[]): Buffer {
  return Buffer.concat([...filters.map((name) => field(1, Buffer.from(name))), update.bytes]);
}

/** The `createdAt` field, which ends every update of a block. */
const createdNow = () =>
  Buffer.from(SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ createdAt: new Date() })).finish());

/** @param versionsBefore what this server adds to the chain's write versions: each server counts its own */
export function encodeBlock(block: Block, versionsBefore = 0n): EncodedBlock {
  const created = createdNow();
  const dated = <T extends EncodedUpdate>(update: T): T => ({
    ...update,
    bytes: Buffer.concat([update.bytes, created]),
  });
  return {
    accounts: block.writes.map((write) => dated(encodeAccount(block, write, versionsBefore))),
    transactions: block.transactions.map((tx) => dated(encodeTransaction(block, tx))),
    meta: dated(encodeMeta(block)),
  };
}

function encodeAccount(block: Block, write: AccountWrite, versionsBefore: bigint): EncodedAccount {
  const message = SubscribeUpdateAccount.fromPartial({
    slot: block.slot.toString(),
    isStartup: false,
    account: {
      pubkey: write.address,
      lamports: write.lamports.toString(),
      owner: write.owner,
      executable: write.executable,
      rentEpoch: '18446744073709551615',
      data: write.data,
      writeVersion: (write.writeVersion + versionsBefore).toString(),
      ...(write.signature === null ? {} : { txnSignature: write.signature }),
    },
  });
  const bytes = field(2, SubscribeUpdateAccount.encode(message).finish());
  return { bytes, field: 2, address: byteKey(write.address), owner: byteKey(write.owner) };
}

export function encodeTransaction(block: Block, tx: LedgerTransaction): EncodedTransaction {
  const { message, loaded } = tx;
  const compiled = ({
    programIdIndex,
    accounts,
    data,
  }: {
    programIdIndex: number;
    accounts: number[];
    data: Uint8Array;
  }) => ({
    programIdIndex,
    accounts: Uint8Array.from(accounts),
    data,
  });
  const update = SubscribeUpdateTransaction.fromPartial({
    slot: block.slot.toString(),
    transaction: {
      signature: tx.signature,
      isVote: false,
      index: tx.index.toString(),
      transaction: {
        signatures: [tx.signature],
        message: {
          header: {
            numRequiredSignatures: message.header.numRequiredSignatures,
            numReadonlySignedAccounts: message.header.numReadonlySigned,
            numReadonlyUnsignedAccounts: message.header.numReadonlyUnsigned,
          },
          accountKeys: message.accountKeys,
          recentBlockhash: message.recentBlockhash,
          instructions: message.instructions.map(compiled),
          versioned: message.lookups !== undefined,
          addressTableLookups: (message.lookups ?? []).map(({ table, writable, readonly }) => ({
            accountKey: table,
            writableIndexes: Uint8Array.from(writable),
            readonlyIndexes: Uint8Array.from(readonly),
          })),
        },
      },
      meta: {
        ...(tx.failed === null ? {} : { err: { err: failureBytes(tx) } }),
        fee: '5000',
        innerInstructions: tx.inner.map(({ index, instructions }) => ({
          index,
          instructions: instructions.map((inner) => ({ ...compiled(inner), stackHeight: inner.stackHeight })),
        })),
        logMessages: tx.streamLogs,
        preTokenBalances: heldAs(tx, 'before'),
        postTokenBalances: heldAs(tx, 'after'),
        loadedWritableAddresses: loaded.writable,
        loadedReadonlyAddresses: loaded.readonly,
        returnDataNone: true,
        computeUnitsConsumed: '50000',
      },
    },
  });
  const accounts = [...message.accountKeys, ...loaded.writable, ...loaded.readonly].map(byteKey);
  const bytes = field(4, SubscribeUpdateTransaction.encode(update).finish());
  return { bytes, field: 4, accounts: new Set(accounts), failed: tx.failed !== null };
}

function heldAs({ tokenBalances }: LedgerTransaction, when: 'before' | 'after') {
  return tokenBalances.flatMap((held) => {
    const amount = held[when];
    if (amount === null) return [];
    const { accountIndex, mint, owner, program: programId, decimals } = held;
    const uiTokenAmount = { ...tokenAmount(amount, decimals), uiAmount: Number(amount) / 10 ** decimals };
    return [{ accountIndex, mint, owner, programId, uiTokenAmount }];
  });
}

/** TransactionError::InstructionError(index, Custom(code)), as bincode writes it. */
function failureBytes(tx: LedgerTransaction): Buffer {
  const bytes = Buffer.alloc(13);
  bytes.writeUInt32LE(8, 0);
  bytes.writeUInt8(tx.failure?.instruction ?? 0, 4);
  bytes.writeUInt32LE(25, 5);
  bytes.writeUInt32LE(tx.failure?.code ?? 0, 9);
  return bytes;
}

export function encodeMeta(block: Block): EncodedUpdate {
  const update = SubscribeUpdate.fromPartial({
    blockMeta: {
      slot: block.slot.toString(),
      blockhash: encodeBase58(block.blockhash),
      rewards: { rewards: [] },
      blockTime: { timestamp: block.blockTime.toString() },
      blockHeight: { blockHeight: block.slot.toString() },
      parentSlot: block.parent.toString(),
      parentBlockhash: encodeBase58(block.parentBlockhash),
      executedTransactionCount: block.transactions.length.toString(),
      entriesCount: '1',
    },
  });
  return { bytes: Buffer.from(SubscribeUpdate.encode(update).finish()), field: 7 };
}

export function encodeSlot(slot: bigint, parent: bigint, status: SlotStatus): EncodedUpdate {
  const update = SubscribeUpdate.fromPartial({
    slot: { slot: slot.toString(), parent: parent.toString(), status },
  });
  return { bytes: Buffer.from(SubscribeUpdate.encode(update).finish()), field: 3 };
}

export function encodePing(): Buffer {
  return Buffer.from(SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ ping: {} })).finish());
}

export function encodePong(id: number): Buffer {
  return Buffer.from(SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ pong: { id } })).finish());
}
