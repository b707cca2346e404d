interface Rewrite {
  name: string;
  addresses: string[];
}

export interface Newcomers {
  /** Addresses that came up and are not in the filter yet, base58. */
  add(addresses: readonly string[]): void;
  /** Called when a slot was released: rewrites the filter where addresses wait and no rewrite is under way. */
  onSlot(): void;
  /** Called when a block meta came by the request of this name: every later slot is filtered by that request. */
  onFilter(name: string, slot: bigint): void;
  /** A new stream carries every address in its first request, of this name. */
  onNewStream(name: string): void;
  /** How many addresses are not known to be in the filter yet. */
  pending(): number;
}

export interface NewcomersOptions {
  /** Sends the whole filter again; answers the request's name. */
  rewrite(): string;
  /** Has these addresses read at that slot or later. */
  read(addresses: readonly string[], notBefore: bigint): void;
}

/**
 * Follows addresses that came up on the way. An address may have been written long before, so no replay brings its
 * state: the filter is rewritten first, then the address is read at a slot where the filter was seen at work.
 */
export function createNewcomers(options: NewcomersOptions): Newcomers {
  let waiting = new Set<string>();
  let underWay: Rewrite | null = null;

  const depart = (name: string) => {
    underWay = waiting.size === 0 ? null : { name, addresses: [...waiting] };
    waiting = new Set();
  };

  return {
    add: (addresses) => {
      for (const address of addresses) waiting.add(address);
    },
    onSlot: () => {
      if (underWay === null && waiting.size > 0) depart(options.rewrite());
    },
    onFilter: (name, slot) => {
      if (underWay?.name !== name) return;
      const { addresses } = underWay;
      underWay = null;
      options.read(addresses, slot);
    },
    onNewStream: (name) => {
      for (const address of underWay?.addresses ?? []) waiting.add(address);
      depart(name);
    },
    pending: () => waiting.size + (underWay?.addresses.length ?? 0),
  };
}
