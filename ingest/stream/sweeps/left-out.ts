import { chunks } from '../../../runtime/chunks.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import { ADDRESSES_PER_READ } from '../../accounts/account-parts.ts';

/** Accounts that were left out of a reading: what is known of them may be old until they are read after all. */
export interface LeftOut {
  /** These were asked for at that slot or later, and those of `left` could not be read. */
  asked(addresses: readonly string[], left: readonly string[], notBefore: bigint): void;
}

export interface LeftOutOptions {
  /** Reads these at that slot or later, and calls `asked` with what came of it. */
  read(addresses: readonly string[], notBefore: bigint): Promise<unknown>;
  everyMs: number;
  signal: AbortSignal;
}

/**
 * Has them read again until that works; where some of a hundred still cannot be read, the rest waits for the next
 * round.
 */
export function createLeftOut({ read, everyMs, signal }: LeftOutOptions): LeftOut {
  /** The slot that a reading of each must have reached; the address that waits longest for another try comes first. */
  const waiting = new Map<string, bigint>();

  const readAgain = async () => {
    for (const some of chunks([...waiting.keys()], ADDRESSES_PER_READ)) {
      let notBefore = 0n;
      for (const address of some) {
        const least = waiting.get(address) ?? 0n;
        if (least > notBefore) notBefore = least;
      }
      await read(some, notBefore);
      if (signal.aborted || some.some((address) => waiting.has(address))) return;
    }
  };
  const run = async () => {
    while (!signal.aborted) {
      await pause(everyMs, signal);
      await readAgain();
    }
  };
  void run();

  return {
    asked: (addresses, left, notBefore) => {
      const out = new Set(left);
      for (const address of addresses) {
        const least = waiting.get(address);
        if (out.has(address) || (least !== undefined && least <= notBefore)) waiting.delete(address);
        if (out.has(address))
          waiting.set(address, least !== undefined && least > notBefore ? least : notBefore);
      }
    },
  };
}
