import { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc';
import { decodeBase58, decodeKey } from './base58.ts';
import { MalformedError } from './malformed.ts';
import type { TransactionRecord } from './records.ts';

/** One call in the instruction tree. `depth` 1 is top level. */
export interface Call {
  depth: number;
  program: Uint8Array;
  accounts: Account[];
  data: Uint8Array;
}

export interface Account {
  address: Uint8Array;
  writable: boolean;
}

/** A transaction as it ran, whichever source it came from. */
export interface ChainTransaction {
  failed: boolean;
  /** Every call in execution order, top-level and inner. */
  calls: Call[];
  /** Null where the source has none. */
  logs: string[] | null;
}

interface Instruction {
  programIdIndex: number;
  accounts: ArrayLike<number>;
  data: Uint8Array;
  stackHeight?: number | null | undefined;
}

interface Parts {
  failed: boolean;
  keys: Account[];
  instructions: Instruction[];
  inner: { index: number; instructions: Instruction[] }[];
  logs: string[] | null;
}

/**
 * Reads a transaction record of either format.
 * @throws MalformedError where the payload does not hold a transaction with its meta.
 */
export function readTransaction(record: Pick<TransactionRecord, 'format' | 'payload'>): ChainTransaction {
  const parts = record.format === 'geyser' ? readGeyser(record.payload) : readJson(record.payload);
  return { failed: parts.failed, logs: parts.logs, calls: callsOf(parts) };
}

function callsOf({ keys, instructions, inner }: Parts): Call[] {
  const account = (index: number): Account => {
    const key = keys[index];
    if (key === undefined) throw new MalformedError('transaction', `no account ${index} among ${keys.length}`);
    return key;
  };
  const call = (instruction: Instruction, depth: number): Call => ({
    depth,
    program: account(instruction.programIdIndex).address,
    accounts: Array.from(instruction.accounts, account),
    data: instruction.data,
  });
  const below = new Map(inner.map((group) => [group.index, group.instructions]));
  return instructions.flatMap((instruction, index) => [
    call(instruction, 1),
    ...(below.get(index) ?? []).map((child) => call(child, child.stackHeight ?? 2)),
  ]);
}

interface Header {
  numRequiredSignatures: number;
  numReadonlySignedAccounts: number;
  numReadonlyUnsignedAccounts: number;
}

function accountsOf(
  header: Header,
  statics: Uint8Array[],
  writable: Uint8Array[],
  readonly: Uint8Array[],
): Account[] {
  const { numRequiredSignatures: signed, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header;
  return [
    ...statics.map((address, index) => ({
      address,
      writable:
        index < signed ? index < signed - numReadonlySignedAccounts : index < statics.length - numReadonlyUnsignedAccounts,
    })),
    ...writable.map((address) => ({ address, writable: true })),
    ...readonly.map((address) => ({ address, writable: false })),
  ];
}

function readGeyser(payload: Uint8Array): Parts {
  const info = decodeInfo(payload);
  const { transaction, meta } = info;
  const message = transaction?.message;
  if (message?.header === undefined || meta === undefined) {
    throw new MalformedError('transaction', 'no message or no meta');
  }
  return {
    failed: meta.err !== undefined,
    keys: accountsOf(message.header, message.accountKeys, meta.loadedWritableAddresses, meta.loadedReadonlyAddresses),
    instructions: message.instructions,
    inner: meta.innerInstructions,
    logs: meta.logMessagesNone ? null : meta.logMessages,
  };
}

function decodeInfo(payload: Uint8Array): SubscribeUpdateTransactionInfo {
  try {
    return SubscribeUpdateTransactionInfo.decode(payload);
  } catch (error) {
    throw new MalformedError('transaction', `not protobuf: ${(error as Error).message}`);
  }
}

interface JsonInstruction {
  programIdIndex: number;
  accounts: number[];
  data: string;
  stackHeight?: number | null;
}

interface JsonTransaction {
  transaction: { message: { header: Header; accountKeys: string[]; instructions: JsonInstruction[] } };
  meta: {
    err: unknown;
    innerInstructions?: { index: number; instructions: JsonInstruction[] }[] | null;
    logMessages?: string[] | null;
    loadedAddresses?: { writable: string[]; readonly: string[] };
  };
}

function readJson(payload: Uint8Array): Parts {
  try {
    const { transaction, meta } = JSON.parse(Buffer.from(payload).toString('utf8')) as JsonTransaction;
    const { message } = transaction;
    return {
      failed: meta.err !== null && meta.err !== undefined,
      keys: accountsOf(
        message.header,
        message.accountKeys.map(key),
        (meta.loadedAddresses?.writable ?? []).map(key),
        (meta.loadedAddresses?.readonly ?? []).map(key),
      ),
      instructions: message.instructions.map(instruction),
      inner: (meta.innerInstructions ?? []).map((group) => ({
        index: group.index,
        instructions: group.instructions.map(instruction),
      })),
      logs: meta.logMessages ?? null,
    };
  } catch (error) {
    if (error instanceof MalformedError) throw error;
    throw new MalformedError('transaction', `not a getTransaction result: ${(error as Error).message}`);
  }
}

function key(text: string): Uint8Array {
  const bytes = decodeKey(text);
  if (bytes === null) throw new MalformedError('transaction', 'an account key is no base58 public key');
  return bytes;
}

function instruction(json: JsonInstruction): Instruction {
  const data = decodeBase58(json.data);
  if (data === null) throw new MalformedError('transaction', 'instruction data is no base58');
  return { ...json, data };
}
