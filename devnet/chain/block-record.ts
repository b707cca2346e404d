import { encodeRow, ownerOf } from '../bytes/account.ts';
import type { Execution } from '../program/execute.ts';
import type { Changes } from '../program/state/draft.ts';
import { bytesOf } from '../program/state/keys.ts';
import { SYSTEM_PROGRAM } from '../program/state/known-programs.ts';
import { LAYOUT_NAME } from '../program/state/layout-name.ts';
import { seededBytes } from '../program/state/random.ts';
import type { Key, TableName, Tables } from '../program/state/state.ts';
import type { AccountWrite, Block } from './ledger.ts';
import type { Segment } from './store/block-table.ts';
import type { HeldTokens } from './token-balances.ts';
import { type Builder, buildTransaction, signatureAt } from './transactions.ts';

/** What a block can be rebuilt from, byte for byte; small beside the block itself. */
export interface BlockRecord {
  slot: bigint;
  parent: bigint;
  blockTime: number;
  executions: Execution[];
  /** Token balances of each execution, by its index; ledgers of an older version have none. */
  tokens?: HeldTokens[][];
  /** State at the end of the block of every account written in it; null: closed. */
  rows: Changes;
  /** Accounts in the order of their last write, with the index of the transaction that wrote and the write version. */
  written: { key: Key; tx: number; version: bigint }[];
}

/** The first record of a ledger. */
export interface LedgerHead {
  /** 3: the first part of the ledger is in the archive. */
  format: 1 | 2 | 3;
  /** Hash of the layouts that its accounts and events were written in; none in format 1. */
  layout?: string;
  /** What the file continues; in format 3 only. */
  archived?: Archived;
  seed: string;
  programId: Key;
  genesisMs: number;
  firstSlot: bigint;
}

/** `layout` of a head. Format 3 has its own, so that a program that knows no archive leaves the ledger alone. */
export const layoutOf = (format: LedgerHead['format']) =>
  format === 3 ? `archived ${LAYOUT_NAME}` : LAYOUT_NAME;

/** The archived part of a ledger, which its file continues. */
export interface Archived {
  segments: readonly Segment[];
  /** Last slot and last write version of the archived part. */
  slot: bigint;
  version: bigint;
  /** How many records behind the head hold the state at that point. */
  pieces: number;
}

const RENT_PER_BYTE = 6_960n;
const RENT_OVERHEAD_BYTES = 128n;

export function rentOf(data: Uint8Array): bigint {
  return (BigInt(data.length) + RENT_OVERHEAD_BYTES) * RENT_PER_BYTE;
}

export function blockhashAt(seed: string, slot: bigint): Uint8Array {
  return seededBytes(`blockhash:${seed}:${slot}`, 32);
}

function tableOf(rows: Changes, key: Key): { table: TableName; value: Tables[TableName] | null } {
  for (const [table, map] of Object.entries(rows) as [TableName, Map<Key, Tables[TableName] | null>][]) {
    const value = map.get(key);
    if (value !== undefined) return { table, value };
  }
  throw new RangeError(`no row for ${key}`);
}

/** The writes of a block, as raw accounts. */
export function writesOf(record: BlockRecord, builder: Builder): AccountWrite[] {
  return record.written.map(({ key, tx, version }) => {
    const { table, value } = tableOf(record.rows, key);
    const data = value === null ? new Uint8Array(0) : encodeRow(table, value);
    return {
      address: bytesOf(key),
      owner: bytesOf(value === null ? SYSTEM_PROGRAM : ownerOf(table, value, builder.programId)),
      lamports: value === null ? 0n : rentOf(data),
      data,
      executable: false,
      writeVersion: version,
      signature: signatureAt(builder.seed, record.slot, tx),
    };
  });
}

/** Makes the block of a record; the same record always gives the same block. */
export function blockOf(record: BlockRecord, builder: Builder): Block {
  const { slot, parent, blockTime } = record;
  const parentBlockhash = blockhashAt(builder.seed, parent);
  return {
    slot,
    parent,
    blockTime,
    blockhash: blockhashAt(builder.seed, slot),
    parentBlockhash,
    transactions: record.executions.map((execution, index) =>
      buildTransaction(
        execution,
        { slot, index, blockhash: parentBlockhash, tokens: record.tokens?.[index] ?? [] },
        builder,
      ),
    ),
    writes: writesOf(record, builder),
  };
}
