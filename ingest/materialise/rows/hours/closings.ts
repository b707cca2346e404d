import { encodeBase58 } from '../../../../schemas/solana/base58.ts';
import { hourOf } from '../../../../schemas/units.ts';
import { isRead, type Seen } from '../seen.ts';

/** The slot of the first state of an address in an hour. */
export interface FirstSeen {
  address: string;
  hour: number;
  slot: bigint;
}

/**
 * What a batch says of hours: the last state of each address in each but the newest of all, and the first streamed. Each
 * slot without a time is an hour of its own.
 */
export interface Closings {
  add(seen: Seen): void;
  earlier(): Iterable<Seen>;
  /** Notes what the stream brought. */
  streamed(seen: Seen): void;
  /** The first states that the stream brought. */
  firsts(): Iterable<FirstSeen>;
}

export function createClosings(): Closings {
  const closings = new Map<string, Seen>();
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
      const hour = isRead(seen) ? null : hourOf(blockTime);
      if (hour === null) return;
      const key = `${hour} ${seen.key}`;
      const known = firsts.get(key);
      if (known === undefined) firsts.set(key, { address: encodeBase58(address), hour, slot });
      else if (known.slot > slot) known.slot = slot;
    },
    firsts: () => firsts.values(),
  };
}

/** What comes again counts as it comes last; of a reading that came behind it is known how old it is from before. */
const isAgain = (seen: Seen, known: Seen): boolean =>
  known.version === seen.version && seen.novelty !== 'behind';
