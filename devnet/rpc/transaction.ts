import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { tokenAmount } from '../bytes/token-amount.ts';
import type { Block, CompiledInstruction, LedgerTransaction } from '../chain/ledger.ts';

/** Whether a transaction counts as one of version 1, which has no lookup tables, under the manner `versionOne`. */
function isVersionOne({ message, signature }: LedgerTransaction): boolean {
  return (message.lookups?.length ?? 0) === 0 && (signature[0] as number) % 2 === 0;
}

export function versionOf(tx: LedgerTransaction, hasVersionOne: boolean): 'legacy' | 0 | 1 {
  if (hasVersionOne && isVersionOne(tx)) return 1;
  return tx.message.lookups === undefined ? 'legacy' : 0;
}

export interface TransactionForm {
  withIndex: boolean;
  versionOne: boolean;
  withTime: boolean;
  /** With its logs and inner instructions. */
  recorded: boolean;
  /** Without its meta. */
  bare: boolean;
}

/** A transaction as getTransaction answers it with encoding json. */
export function transactionJson(block: Block, tx: LedgerTransaction, form: TransactionForm): object {
  const { message } = tx;
  return {
    slot: Number(block.slot),
    blockTime: form.withTime ? block.blockTime : null,
    ...(form.withIndex ? { transactionIndex: tx.index } : {}),
    version: versionOf(tx, form.versionOne),
    meta: form.bare ? null : metaJson(tx, form),
    transaction: {
      signatures: [encodeBase58(tx.signature)],
      message: {
        header: {
          numRequiredSignatures: message.header.numRequiredSignatures,
          numReadonlySignedAccounts: message.header.numReadonlySigned,
          numReadonlyUnsignedAccounts: message.header.numReadonlyUnsigned,
        },
        accountKeys: message.accountKeys.map(encodeBase58),
        recentBlockhash: encodeBase58(message.recentBlockhash),
        instructions: message.instructions.map((instruction) => ({
          ...instructionJson(instruction),
          stackHeight: 1,
        })),
        ...(message.lookups === undefined
          ? {}
          : {
              addressTableLookups: message.lookups.map(({ table, writable, readonly }) => ({
                accountKey: encodeBase58(table),
                writableIndexes: writable,
                readonlyIndexes: readonly,
              })),
            }),
      },
    },
  };
}

function heldAs({ tokenBalances }: LedgerTransaction, when: 'before' | 'after'): object[] {
  return tokenBalances.flatMap((held) => {
    const amount = held[when];
    if (amount === null) return [];
    const { accountIndex, mint, owner, program: programId, decimals } = held;
    const uiAmount = amount === 0n ? null : Number(amount) / 10 ** decimals;
    return [
      { accountIndex, mint, owner, programId, uiTokenAmount: { uiAmount, ...tokenAmount(amount, decimals) } },
    ];
  });
}

function metaJson(tx: LedgerTransaction, { recorded }: TransactionForm): object {
  const { loaded } = tx;
  const err = errorJson(tx);
  return {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee: 5000,
    innerInstructions: recorded ? innerJson(tx) : null,
    logMessages: recorded ? tx.logs : null,
    loadedAddresses: {
      writable: loaded.writable.map(encodeBase58),
      readonly: loaded.readonly.map(encodeBase58),
    },
    preBalances: [],
    postBalances: [],
    preTokenBalances: heldAs(tx, 'before'),
    postTokenBalances: heldAs(tx, 'after'),
    rewards: [],
    computeUnitsConsumed: 50000,
  };
}

function innerJson({ inner }: LedgerTransaction): object[] {
  return inner.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((one) => ({ ...instructionJson(one), stackHeight: one.stackHeight })),
  }));
}

function instructionJson({ programIdIndex, accounts, data }: CompiledInstruction): object {
  return { programIdIndex, accounts, data: encodeBase58(data) };
}

export function errorJson({ failed, failure }: Pick<LedgerTransaction, 'failed' | 'failure'>): object | null {
  if (failed === null) return null;
  return { InstructionError: [failure?.instruction ?? 0, { Custom: failure?.code ?? 0 }] };
}
