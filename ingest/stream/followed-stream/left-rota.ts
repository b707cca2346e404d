import { encodeBase58 } from '../../../schemas/solana/base58.ts';

/**
 * Addresses that left the rota: they were read in turns before a stream carried them. Until one was read once more, at a slot that the stream
 * has all of its states of, the first state that the stream brings is no more than a reading: what was in between nobody saw.
 */
export interface LeftRota {
  /** They were read, and are not in the turns any more. */
  left(addresses: readonly string[]): void;
  /** The stream has all of their states from this slot on. */
  carried(addresses: readonly string[], from: bigint): void;
  /** One was read over RPC. */
  read(address: Uint8Array, slot: bigint): void;
  /** Whether this is the first state that the stream brings of one of them; those behind it are known as they are. */
  isFirst(address: Uint8Array): boolean;
}

interface One {
  /** Of what came before: whether it was read in turns. */
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
