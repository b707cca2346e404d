import { encodeBase58 } from '../../../schemas/solana/base58.ts';

/**
 * Addresses that left the rota: they were read in turns before a stream carried them. Until one is read again, at a
 * slot from which on the stream has all of its states, the first state that the stream brings counts as a reading only:
 * the states before it, back to the last turn, nobody saw.
 */
export interface LeftRota {
  /** These were read in turns, and are not any more. */
  left(addresses: readonly string[]): void;
  /** The stream has all of their states from this slot on. */
  carried(addresses: readonly string[], from: bigint): void;
  /** The address was read over RPC. */
  read(address: Uint8Array, slot: bigint): void;
  /**
   * Whether this is the first state that the stream brings of such an address; true once only, for the states behind it
   * follow without a break.
   */
  isFirst(address: Uint8Array): boolean;
}

interface One {
  /** Whether it was read in turns before. */
  left: boolean;
  /** From which slot on the stream has all of its states, where that is known. */
  from: bigint | null;
}

export function createLeftRota(): LeftRota {
  const waiting = new Map<string, One>();
  return {
    left: (addresses) => {
      for (const address of addresses)
        waiting.set(address, { left: true, from: waiting.get(address)?.from ?? null });
    },
    carried: (addresses, from) => {
      for (const address of addresses)
        waiting.set(address, { left: waiting.get(address)?.left ?? false, from });
    },
    read: (address, slot) => {
      if (waiting.size === 0) return;
      const key = encodeBase58(address);
      const from = waiting.get(key)?.from ?? null;
      if (from !== null && slot >= from) waiting.delete(key);
    },
    isFirst: (address) => {
      if (waiting.size === 0) return false;
      const key = encodeBase58(address);
      const one = waiting.get(key);
      if (one?.left !== true) return false;
      return waiting.delete(key);
    },
  };
}
