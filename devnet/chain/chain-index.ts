import { byteKey } from '../../schemas/solana/byte-key.ts';
import type { Instruction } from '../program/instruction-run.ts';
import type { Key } from '../program/state/state.ts';
import type { BlockRecord } from './block-record.ts';
import { signatureAt } from './transactions.ts';

/** Where a transaction stands. */
export interface Position {
  slot: bigint;
  index: number;
}

/** Finds records by slot, transactions by signature, and signatures by address. Holds numbers, no blocks. */
export interface ChainIndex {
  add(record: BlockRecord, place: number): void;
  /** Places of all blocks, oldest first. */
  places(): readonly number[];
  placeOf(slot: bigint): number | null;
  find(signature: Uint8Array): Position | null;
  /** Newest first, older than `before`. */
  of(address: Key, before: Position | null, limit: number): Position[];
}

/** More transactions than a block ever has. */
const PER_BLOCK = 65_536;

const packed = ({ slot, index }: Position) => Number(slot) * PER_BLOCK + index;
const unpacked = (number: number): Position => ({
  slot: BigInt(Math.floor(number / PER_BLOCK)),
  index: number % PER_BLOCK,
});

/** Every key that an instruction and those it calls name. */
export function keysOf(instruction: Instruction, into: Set<Key>): void {
  into.add(instruction.program);
  for (const meta of instruction.metas) into.add(meta.key);
  for (const step of instruction.steps) if (step.type === 'cpi') keysOf(step.instruction, into);
}

/** First position in an ascending list that is not below `value`. */
function lowerBound(list: readonly number[], value: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An empty index. `mentioned` is what a transaction without instructions of this chain's own still names. */
export function createChainIndex(seed: string, mentioned: Key): ChainIndex {
  const places: number[] = [];
  const bySlot = new Map<bigint, number>();
  const bySignature = new Map<string, number>();
  const byAddress = new Map<Key, number[]>();
  return {
    add: (record, place) => {
      places.push(place);
      bySlot.set(record.slot, place);
      for (const [index, execution] of record.executions.entries()) {
        const number = packed({ slot: record.slot, index });
        bySignature.set(byteKey(signatureAt(seed, record.slot, index)), number);
        const keys = new Set<Key>(execution.instructions.length === 0 ? [mentioned] : []);
        for (const instruction of execution.instructions) keysOf(instruction, keys);
        for (const key of keys) {
          const list = byAddress.get(key);
          if (list === undefined) byAddress.set(key, [number]);
          else list.push(number);
        }
      }
    },
    places: () => places,
    placeOf: (slot) => bySlot.get(slot) ?? null,
    find: (signature) => {
      const number = bySignature.get(byteKey(signature));
      return number === undefined ? null : unpacked(number);
    },
    of: (address, before, limit) => {
      const list = byAddress.get(address) ?? [];
      const end = before === null ? list.length : lowerBound(list, packed(before));
      return list
        .slice(Math.max(0, end - limit), end)
        .reverse()
        .map(unpacked);
    },
  };
}
