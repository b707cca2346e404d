import { encodeBase58 } from '../../../../schemas/solana/base58.ts';
import { hourOf } from '../../../../schemas/units.ts';
import { isFromRpc, type SeenState } from '../seen.ts';

/** The slot of the first state of an address in an hour. */
export interface FirstSeen {
  address: string;
  hour: number;
  slot: bigint;
}

/**
 * A batch's states by hour: the last state of each address in each hour, except its newest of all, and the first that
 * was streamed. Each slot without a time counts as an hour of its own.
 */
export interface Closings {
  add(seen: SeenState): void;
  earlier(): Iterable<SeenState>;
  /** Notes what the stream brought. */
  streamed(seen: SeenState): void;
  /** The first states that the stream brought. */
  firsts(): Iterable<FirstSeen>;
}

export function createClosings(): Closings {
  const closings = new Map<string, SeenState>();
  const firsts = new Map<string, FirstSeen>();
  return {
    add: (seen) => {
      const hour = hourOf(seen.seenAt);
      if (hour === null && seen.novelty !== 'new') return;
      const key = `${hour ?? `slot ${seen.version >> 64n}`} ${seen.key}`;
      const known = closings.get(key);
      if (known === undefined || known.version < seen.version || isAgain(seen, known))
        closings.set(key, seen);
    },
    earlier: () => closings.values(),
    streamed: (seen) => {
      const { slot, blockTime, address } = seen.record;
      const hour = isFromRpc(seen) ? null : hourOf(blockTime);
      if (hour === null) return;
      const key = `${hour} ${seen.key}`;
      const known = firsts.get(key);
      if (known === undefined) firsts.set(key, { address: encodeBase58(address), hour, slot });
      else if (known.slot > slot) known.slot = slot;
    },
    firsts: () => firsts.values(),
  };
}

/** A state that comes again counts as it came last, unless as `behind`: the earlier one knows how old the state is. */
const isAgain = (seen: SeenState, known: SeenState): boolean =>
  known.version === seen.version && seen.novelty !== 'behind';
