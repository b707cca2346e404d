import { byteKey } from '../../schemas/solana/byte-key.ts';
import type { Instruction } from '../program/instruction-run.ts';
import type { Key } from '../program/state/state.ts';
import type { BlockRecord } from './block-record.ts';
import { type BlockTable, type Listed, newest, type Position, positionOf } from './store/block-table.ts';
import { signatureAt } from './transactions.ts';

/** Finds records by slot, transactions by signature, and signatures by address. Holds numbers, no blocks. */
export interface ChainIndex {
  table: BlockTable;
  /** Transactions counted so far. */
  txs(): number;
  add(record: BlockRecord, place: number): void;
  find(signature: Uint8Array): Position | null;
  /** The transactions that name an address and are older than `before`, newest first. */
  of(address: Key, before: Position | null, limit: number): Listed[];
  /** Signatures as byte keys, in the order of their transactions. */
  signatures(): Iterable<string>;
  /** The transactions that name each address, ascending. */
  addresses(): Iterable<readonly [Key, readonly number[]]>;
}

/** Adds every key that an instruction and its inner instructions name. */
export function keysOf(instruction: Instruction, into: Set<Key>): void {
  into.add(instruction.program);
  for (const meta of instruction.metas) into.add(meta.key);
  for (const step of instruction.steps) if (step.type === 'cpi') keysOf(step.instruction, into);
}

/** An empty index. `mentioned` is the key that a transaction without instructions is listed under. */
export function createChainIndex(seed: string, mentioned: Key): ChainIndex {
  const slots: number[] = [];
  const places: number[] = [];
  const before: number[] = [];
  const failed = new Set<number>();
  const bySignature = new Map<string, number>();
  const byAddress = new Map<Key, number[]>();
  const table: BlockTable = { slots, places, before, isFailed: (tx) => failed.has(tx) };
  let txs = 0;
  return {
    table,
    txs: () => txs,
    add: (record, place) => {
      slots.push(Number(record.slot));
      places.push(place);
      before.push(txs);
      for (const [index, execution] of record.executions.entries()) {
        bySignature.set(byteKey(signatureAt(seed, record.slot, index)), txs);
        if (execution.error !== null) failed.add(txs);
        const keys = new Set<Key>(execution.instructions.length === 0 ? [mentioned] : []);
        for (const instruction of execution.instructions) keysOf(instruction, keys);
        for (const key of keys) {
          const list = byAddress.get(key);
          if (list === undefined) byAddress.set(key, [txs]);
          else list.push(txs);
        }
        txs += 1;
      }
    },
    find: (signature) => {
      const tx = bySignature.get(byteKey(signature));
      return tx === undefined ? null : positionOf(table, tx);
    },
    of: (address, before, limit) => newest(table, byAddress.get(address) ?? [], { before, limit, txs }),
    signatures: () => bySignature.keys(),
    addresses: () => byAddress.entries(),
  };
}
