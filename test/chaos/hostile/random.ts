import { createHash } from 'node:crypto';

export interface Random {
  below(limit: number): number;
  of<T>(values: readonly T[]): T;
  bytes(length: number): Buffer;
}

/** Random numbers, the same for the same seed. */
export function createRandom(seed: string): Random {
  let at = 0;
  const bytes = (length: number) => {
    at += 1;
    return createHash('sha512').update(`${seed}:${at}`).digest().subarray(0, length);
  };
  const below = (limit: number) => bytes(4).readUInt32LE() % limit;
  return { below, bytes, of: (values) => values[below(values.length)] as (typeof values)[number] };
}
