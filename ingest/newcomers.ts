import type { AccountRecord } from '../schemas/records.ts';

/** Slots behind the rewritten filter after which it is known to work. */
const SETTLED_AFTER = 2n;

interface Rewrite {
  addresses: string[];
  settledAt: bigint;
}

export interface Newcomers {
  add(addresses: readonly string[]): void;
  /**
   * Called when a slot was released. Rewrites the filter where addresses wait and none is under way; reads the
   * addresses of the last rewrite once it has settled.
   */
  onSlot(slot: bigint): void;
  /** A new stream carries every address in its first request: what was under way is read again. */
  onNewStream(): void;
  /** Whether an address is followed but not read yet. */
  pending(): number;
}

export interface NewcomersOptions {
  /** Sends the whole filter again, replaying from this slot. */
  rewrite(fromSlot: bigint): void;
  /** Reads them at that slot or later and puts them into the log. Retries until done. */
  read(addresses: readonly string[], notBefore: bigint): Promise<AccountRecord[]>;
}

/**
 * Follows addresses that came up on the way. An address may have been written long before, so no replay brings its
 * state: the filter is rewritten first, then the address is read at a slot where the filter was at work.
 */
export function createNewcomers(options: NewcomersOptions): Newcomers {
  let waiting = new Set<string>();
  let underWay: Rewrite | null = null;
  let reading = 0;

  const settle = (rewrite: Rewrite, slot: bigint) => {
    reading += rewrite.addresses.length;
    void options.read(rewrite.addresses, slot).finally(() => {
      reading -= rewrite.addresses.length;
    });
  };

  return {
    add: (addresses) => {
      for (const address of addresses) waiting.add(address);
    },
    onSlot: (slot) => {
      if (underWay !== null && slot >= underWay.settledAt) {
        settle(underWay, slot);
        underWay = null;
      }
      if (underWay === null && waiting.size > 0) {
        underWay = { addresses: [...waiting], settledAt: slot + SETTLED_AFTER };
        waiting = new Set();
        options.rewrite(slot + 1n);
      }
    },
    onNewStream: () => {
      for (const address of underWay?.addresses ?? []) waiting.add(address);
      underWay = null;
    },
    pending: () => waiting.size + (underWay?.addresses.length ?? 0) + reading,
  };
}
