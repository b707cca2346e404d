import { hash } from 'node:crypto';

/** A stream of random numbers; the same label always gives the same stream. */
export interface Random {
  /** 0 ≤ result < 1. */
  next(): number;
  /** An integer, both ends included. */
  int(low: number, high: number): number;
  /** A bigint, both ends included. */
  big(low: bigint, high: bigint): bigint;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** `size` made-up bytes; the same label always gives the same bytes. */
export function seededBytes(label: string, size: 32 | 64): Uint8Array {
  return new Uint8Array(hash(size === 32 ? 'sha256' : 'sha512', label, 'buffer'));
}

/** sfc32, seeded by a hash of the label: fast, and without global state. */
export function createRandom(label: string): Random {
  const seed = hash('sha256', label, 'buffer');
  let a = seed.readUInt32LE(0);
  let b = seed.readUInt32LE(4);
  let c = seed.readUInt32LE(8);
  let counter = 1;
  const word = () => {
    const sum = (a + b + counter) >>> 0;
    counter = (counter + 1) >>> 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) >>> 0;
    c = (((c << 21) | (c >>> 11)) + sum) >>> 0;
    return sum;
  };
  for (let round = 0; round < 12; round += 1) word();
  const next = () => word() / 2 ** 32;
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    int,
    big: (low, high) => {
      if (high <= low) return low;
      const wide = (BigInt(word()) << 64n) | (BigInt(word()) << 32n) | BigInt(word());
      return low + (wide % (high - low + 1n));
    },
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[int(0, items.length - 1)];
      if (item === undefined) throw new RangeError('nothing to pick from');
      return item;
    },
  };
}
