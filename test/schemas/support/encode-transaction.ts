import { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import type { Call, ChainTransaction } from '../../../schemas/transaction/parts.ts';

/** A transaction as both sources would carry it, some of its accounts from lookup tables. */
interface Compiled {
  header: {
    numRequiredSignatures: number;
    numReadonlySignedAccounts: number;
    numReadonlyUnsignedAccounts: number;
  };
  statics: Uint8Array[];
  loaded: { writable: Uint8Array[]; readonly: Uint8Array[] };
  tops: Indexed[];
  inner: { index: number; instructions: Indexed[] }[];
}

interface Indexed {
  programIdIndex: number;
  accounts: number[];
  data: Uint8Array;
  stackHeight: number;
}

/** @param lookups whether every second account that is no program comes from a table. */
function compile(calls: readonly Call[], lookups: boolean): Compiled {
  const programs = new Set(calls.map(({ program }) => encodeBase58(program)));
  const writable = new Map<string, boolean>([...programs].map((id) => [id, false]));
  for (const { accounts } of calls) {
    for (const { address, writable: is } of accounts) {
      const id = encodeBase58(address);
      writable.set(id, is || writable.get(id) === true);
    }
  }
  const bytes = new Map(
    calls
      .flatMap((call) => [call.program, ...call.accounts.map(({ address }) => address)])
      .map((key) => [encodeBase58(key), key]),
  );
  const ids = [...writable.keys()];
  const fromTable = new Set(lookups ? ids.filter((id, at) => !programs.has(id) && at % 2 === 1) : []);
  const pick = (is: boolean, table: boolean) =>
    ids.filter((id) => writable.get(id) === is && fromTable.has(id) === table);
  const payer = new Uint8Array(32).fill(251);
  const statics = [
    payer,
    ...[...pick(true, false), ...pick(false, false)].map((id) => bytes.get(id) as Uint8Array),
  ];
  const loaded = {
    writable: pick(true, true).map((id) => bytes.get(id) as Uint8Array),
    readonly: pick(false, true).map((id) => bytes.get(id) as Uint8Array),
  };
  const order = [...statics, ...loaded.writable, ...loaded.readonly].map(encodeBase58);
  const indexed = calls.map((call) => ({
    programIdIndex: order.indexOf(encodeBase58(call.program)),
    accounts: call.accounts.map(({ address }) => order.indexOf(encodeBase58(address))),
    data: call.data,
    stackHeight: call.depth,
  }));
  const tops = indexed.filter(({ stackHeight }) => stackHeight === 1);
  const inner = tops.map((top, index) => {
    const start = indexed.indexOf(top) + 1;
    const end = indexed.findIndex((other, at) => at >= start && other.stackHeight === 1);
    return { index, instructions: indexed.slice(start, end < 0 ? undefined : end) };
  });
  return {
    header: {
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: pick(false, false).length,
    },
    statics,
    loaded,
    tops,
    inner: inner.filter(({ instructions }) => instructions.length > 0),
  };
}

/** What version 1 carries in place of instructions of the compute budget; it knows no lookup tables. */
const CONFIG = { priorityFee: 7_000, computeUnitLimit: 200_000 };

/** SubscribeUpdateTransactionInfo, as the stream carries it. */
export function toGeyser(tx: ChainTransaction, lookups: boolean, versionOne = false): Uint8Array {
  const { header, statics, loaded, tops, inner } = compile(tx.calls, lookups);
  return SubscribeUpdateTransactionInfo.encode(
    SubscribeUpdateTransactionInfo.fromPartial({
      signature: new Uint8Array(64).fill(7),
      index: '3',
      transaction: {
        signatures: [new Uint8Array(64).fill(7)],
        message: {
          header,
          accountKeys: statics,
          recentBlockhash: new Uint8Array(32),
          versioned: lookups || versionOne,
          ...(versionOne ? { config: { ...CONFIG, priorityFee: CONFIG.priorityFee.toString() } } : {}),
          instructions: tops.map(({ programIdIndex, accounts, data }) => ({
            programIdIndex,
            accounts: Uint8Array.from(accounts),
            data,
          })),
        },
      },
      meta: {
        ...(tx.failed ? { err: { err: Uint8Array.of(8, 0, 0, 0) } } : {}),
        innerInstructions: inner.map(({ index, instructions }) => ({
          index,
          instructions: instructions.map((one) => ({ ...one, accounts: Uint8Array.from(one.accounts) })),
        })),
        logMessages: tx.logs ?? [],
        logMessagesNone: tx.logs === null,
        loadedWritableAddresses: loaded.writable,
        loadedReadonlyAddresses: loaded.readonly,
      },
    }),
  ).finish();
}

/** A getTransaction result, encoding json. */
export function toJson(tx: ChainTransaction, lookups: boolean, versionOne = false): Uint8Array {
  const { header, statics, loaded, tops, inner } = compile(tx.calls, lookups);
  const text = (one: Indexed) => ({ ...one, data: encodeBase58(one.data) });
  return Buffer.from(
    JSON.stringify({
      slot: 5,
      version: versionOne ? 1 : lookups ? 0 : 'legacy',
      transaction: {
        signatures: [],
        message: {
          header,
          accountKeys: statics.map(encodeBase58),
          instructions: tops.map(text),
          ...(versionOne ? { config: CONFIG } : {}),
        },
      },
      meta: {
        err: tx.failed ? { InstructionError: [0, { Custom: 6000 }] } : null,
        innerInstructions: inner.map(({ index, instructions }) => ({
          index,
          instructions: instructions.map(text),
        })),
        logMessages: tx.logs,
        ...(lookups
          ? {
              loadedAddresses: {
                writable: loaded.writable.map(encodeBase58),
                readonly: loaded.readonly.map(encodeBase58),
              },
            }
          : {}),
      },
    }),
  );
}
