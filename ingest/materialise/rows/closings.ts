import type { AccountRecord } from '../../../schemas/records.ts';
import { hourOf } from '../../../schemas/units.ts';
import type { LatestState } from './account.ts';

/** A good state of an address. */
export interface Seen {
  record: AccountRecord;
  version: bigint;
  reading: LatestState | 'missing';
  /** Unix seconds of the slot in which it was seen last; null where that is not known. */
  seenAt: number | null;
  /** No other state came before it in its batch: what was there is to be asked of what is stored. */
  opens: boolean;
}

/**
 * What a batch says of hours: the last state of each address in each but the newest of all, and the first streamed. Each
 * slot without a time is an hour of its own.
 */
export interface Closings {
  /** @param other the newest so far, which stands for its own hour. */
  add(address: string, seen: Seen, other: Seen): void;
  earlier(): Iterable<Seen>;
  /** Notes what the stream brought. */
  streamed(address: string, record: AccountRecord): void;
  /** The slot of the first state of each address and hour that the stream brought. */
  firsts(): Iterable<{ address: string; hour: number; slot: bigint }>;
}

export function createClosings(): Closings {
  const closings = new Map<string, Seen>();
  const firsts = new Map<string, { address: string; hour: number; slot: bigint }>();
  return {
    add: (address, seen, other) => {
      const hour = hourOf(seen.seenAt);
      if (hour !== null && hour === hourOf(other.seenAt)) return;
      const key = `${hour ?? `slot ${seen.version >> 64n}`} ${address}`;
      const known = closings.get(key);
      if (known === undefined || known.version < seen.version) closings.set(key, seen);
    },
    earlier: () => closings.values(),
    streamed: (address, { source, slot, blockTime }) => {
      const hour = source === 'stream' ? hourOf(blockTime) : null;
      if (hour === null) return;
      const key = `${hour} ${address}`;
      const known = firsts.get(key);
      if (known === undefined || known.slot > slot) firsts.set(key, { address, hour, slot });
    },
    firsts: () => firsts.values(),
  };
}
