/** What a test may do to the stream. */
export interface GeyserFaults {
  /** Ends every stream at once, as a restarting server does. */
  drop(): void;
  /** Sends nothing while it holds. */
  stall(on: boolean): void;
  stalled(): boolean;
  /** Sends each update twice and the updates of a slot in another order, seeded. */
  scramble(random: (() => number) | null): void;
  /** Leaves slots out, as a server that lost them does. */
  hide(slots: ReadonlySet<bigint>): void;
  hidden(slot: bigint): boolean;
  shape(bytes: Buffer): Buffer[];
  order<T>(updates: readonly T[]): readonly T[];
}

export function createFaults(dropAll: () => void): GeyserFaults {
  let stalled = false;
  let random: (() => number) | null = null;
  let hidden: ReadonlySet<bigint> = new Set();
  return {
    drop: dropAll,
    stall: (on) => {
      stalled = on;
    },
    stalled: () => stalled,
    scramble: (next) => {
      random = next;
    },
    hide: (slots) => {
      hidden = slots;
    },
    hidden: (slot) => hidden.has(slot),
    shape: (bytes) => (random !== null && random() < 0.3 ? [bytes, bytes] : [bytes]),
    order: (updates) => {
      const next = random;
      if (next === null) return updates;
      return updates
        .map((update) => ({ update, at: next() }))
        .sort((a, b) => a.at - b.at)
        .map(({ update }) => update);
    },
  };
}
