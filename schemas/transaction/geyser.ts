import { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc';
import { MalformedError } from '../malformed.ts';
import type { TransactionParts } from './parts.ts';

/**
 * Reads SubscribeUpdateTransactionInfo, as the stream carries it.
 * @throws MalformedError where the bytes are no protobuf, or hold no message, no meta or a malformed key.
 */
export function readGeyserTransaction(payload: Uint8Array): TransactionParts {
  const { transaction, meta } = decode(payload);
  const message = transaction?.message;
  if (message?.header === undefined || meta === undefined) {
    throw new MalformedError('transaction', 'no message or no meta');
  }
  return {
    failed: meta.err !== undefined,
    header: message.header,
    keys: message.accountKeys.map(key),
    loadedWritable: meta.loadedWritableAddresses.map(key),
    loadedReadonly: meta.loadedReadonlyAddresses.map(key),
    instructions: message.instructions,
    inner: meta.innerInstructions,
    innerTold: !meta.innerInstructionsNone,
    logs: meta.logMessagesNone ? null : meta.logMessages,
    tokensBefore: meta.preTokenBalances,
    tokensAfter: meta.postTokenBalances,
  };
}

/** The accounts that it names, lookup tables' included; null where it does not hold all. @throws MalformedError */
export function geyserKeys(payload: Uint8Array): Uint8Array[] | null {
  const { transaction, meta } = decode(payload);
  const message = transaction?.message;
  if (message === undefined || message.accountKeys.length === 0) return null;
  const loaded = [...(meta?.loadedWritableAddresses ?? []), ...(meta?.loadedReadonlyAddresses ?? [])];
  const lookedUp = message.addressTableLookups.reduce(
    (sum, { writableIndexes, readonlyIndexes }) => sum + writableIndexes.length + readonlyIndexes.length,
    0,
  );
  return loaded.length < lookedUp ? null : [...message.accountKeys, ...loaded].map(key);
}

function decode(payload: Uint8Array): SubscribeUpdateTransactionInfo {
  try {
    return SubscribeUpdateTransactionInfo.decode(payload);
  } catch (cause) {
    throw new MalformedError(
      'transaction',
      `not protobuf: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}

function key(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== 32) throw new MalformedError('transaction', `a key of ${bytes.length} bytes`);
  return bytes;
}
