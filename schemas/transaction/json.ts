import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/schema';
import { MalformedError } from '../malformed.ts';
import { decodeBase58, decodeKey } from '../solana/base58.ts';
import type { Instruction, TransactionParts } from './parts.ts';

/** Most characters of data of all calls together: the runtime makes at most 64 calls, of 10 kB each: less. */
const MOST_DATA = 1_000_000;

const Index = Type.Integer({ minimum: 0, maximum: 0xffff });
const JsonInstruction = Type.Object({
  programIdIndex: Index,
  accounts: Type.Array(Index),
  data: Type.String(),
  stackHeight: Type.Optional(Type.Union([Index, Type.Null()])),
});

const TokenAmounts = Type.Optional(
  Type.Union([
    Type.Array(
      Type.Object({
        accountIndex: Index,
        mint: Type.String(),
        uiTokenAmount: Type.Object({ amount: Type.String() }),
      }),
    ),
    Type.Null(),
  ]),
);

/** What is read of a getTransaction result with encoding json; the rest is left alone. */
const JsonTransaction = Type.Object({
  transaction: Type.Object({
    message: Type.Object({
      header: Type.Object({
        numRequiredSignatures: Index,
        numReadonlySignedAccounts: Index,
        numReadonlyUnsignedAccounts: Index,
      }),
      accountKeys: Type.Array(Type.String()),
      instructions: Type.Array(JsonInstruction),
    }),
  }),
  meta: Type.Object({
    err: Type.Unknown(),
    innerInstructions: Type.Optional(
      Type.Union([
        Type.Array(Type.Object({ index: Index, instructions: Type.Array(JsonInstruction) })),
        Type.Null(),
      ]),
    ),
    preTokenBalances: TokenAmounts,
    postTokenBalances: TokenAmounts,
    logMessages: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
    loadedAddresses: Type.Optional(
      Type.Union([
        Type.Object({ writable: Type.Array(Type.String()), readonly: Type.Array(Type.String()) }),
        Type.Null(),
      ]),
    ),
  }),
});

const shape = Compile(JsonTransaction);

const Keys = Type.Array(Type.String());
/** The part of a getTransaction result that tells which accounts it names. */
const JsonKeys = Type.Object({
  transaction: Type.Object({
    message: Type.Object({
      accountKeys: Keys,
      addressTableLookups: Type.Optional(
        Type.Union([
          Type.Array(Type.Object({ writableIndexes: Type.Array(Index), readonlyIndexes: Type.Array(Index) })),
          Type.Null(),
        ]),
      ),
    }),
  }),
  meta: Type.Optional(
    Type.Union([
      Type.Object({
        loadedAddresses: Type.Optional(
          Type.Union([Type.Object({ writable: Keys, readonly: Keys }), Type.Null()]),
        ),
      }),
      Type.Null(),
    ]),
  ),
});

const keysShape = Compile(JsonKeys);

/** The accounts that it names, lookup tables' included; null where it does not hold all. @throws MalformedError */
export function jsonKeys(payload: Uint8Array): Uint8Array[] | null {
  const value = json(payload);
  if (!keysShape.Check(value)) return null;
  const { accountKeys, addressTableLookups } = value.transaction.message;
  const loaded = value.meta?.loadedAddresses;
  const all = [...accountKeys, ...(loaded?.writable ?? []), ...(loaded?.readonly ?? [])];
  const lookedUp = (addressTableLookups ?? []).reduce(
    (sum, { writableIndexes, readonlyIndexes }) => sum + writableIndexes.length + readonlyIndexes.length,
    0,
  );
  return accountKeys.length === 0 || all.length < accountKeys.length + lookedUp ? null : all.map(key);
}

/**
 * Reads the UTF-8 JSON of a getTransaction result.
 * @throws MalformedError where it is no JSON, has another shape, or holds a key or data that is no base58, or more data
 * than there can be.
 */
export function readJsonTransaction(payload: Uint8Array): TransactionParts {
  const { transaction, meta } = parse(payload);
  const { header, accountKeys, instructions } = transaction.message;
  const inner = meta.innerInstructions ?? [];
  const all = [instructions, ...inner.map((group) => group.instructions)].flat();
  if (all.reduce((sum, { data }) => sum + data.length, 0) > MOST_DATA)
    throw malformed('more instruction data than a transaction holds');
  return {
    failed: meta.err !== null,
    header,
    keys: accountKeys.map(key),
    loadedWritable: (meta.loadedAddresses?.writable ?? []).map(key),
    loadedReadonly: (meta.loadedAddresses?.readonly ?? []).map(key),
    instructions: instructions.map(instruction),
    inner: inner.map((group) => ({
      index: group.index,
      instructions: group.instructions.map(instruction),
    })),
    innerTold: meta.innerInstructions !== undefined && meta.innerInstructions !== null,
    logs: meta.logMessages ?? null,
    tokensBefore: meta.preTokenBalances ?? [],
    tokensAfter: meta.postTokenBalances ?? [],
  };
}

function json(payload: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString('utf8'));
  } catch {
    throw malformed('not JSON');
  }
}

function parse(payload: Uint8Array): Static<typeof JsonTransaction> {
  const value = json(payload);
  if (!shape.Check(value)) throw malformed('not the shape of a getTransaction result');
  return value;
}

function key(text: string): Uint8Array {
  const bytes = decodeKey(text);
  if (bytes === null) throw malformed('an account key is no base58 public key');
  return bytes;
}

function instruction({
  programIdIndex,
  accounts,
  data,
  stackHeight,
}: Static<typeof JsonInstruction>): Instruction {
  const bytes = decodeBase58(data);
  if (bytes === null) throw malformed('instruction data is no base58');
  return { programIdIndex, accounts, data: bytes, stackHeight };
}

function malformed(reason: string): MalformedError {
  return new MalformedError('transaction', reason);
}
