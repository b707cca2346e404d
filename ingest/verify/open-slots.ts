import { BEFORE_ALL, type LateSlots } from './late-slots.ts';
import type { PlacedTransaction } from './verify-window.ts';

type Placed = Pick<PlacedTransaction, 'signature' | 'slot'>;

/** Slots that gaps of their own keep open: the comparison passes them over, and comes back to each once it is closed. */
export interface OpenSlots {
  /** Those of now. @param compared everything up to there was */
  are(slots: ReadonlySet<bigint>, compared: bigint | null): void;
  /** This comparison has told the log that it is open. */
  told(slot: bigint): void;
  /** The stream had brought nothing of a transaction that cannot be read. */
  unheard(one: Placed): void;
  /** Whether that was so, or an earlier process may have found it so. */
  wasUnheard(one: Placed): boolean;
  /** What the transactions of closed slots wrote was told. */
  compared(fromSlot: bigint, toSlot: bigint): void;
}

/** More are kept nowhere. */
const MOST_UNHEARD = 10_000;

export function createOpenSlots(late: LateSlots): OpenSlots {
  let open: ReadonlySet<bigint> | null = null;
  /** Told, and not applied yet. */
  const own = new Set<bigint>();
  /** Of an earlier process: which transactions it missed there nobody remembers. */
  const inherited = new Set<bigint>();
  const unheard = new Map<string, bigint>();
  return {
    are: (slots, compared) => {
      for (const slot of open ?? []) if (!slots.has(slot)) late.add(slot, BEFORE_ALL);
      for (const slot of slots) {
        if (own.delete(slot) || open?.has(slot) === true) continue;
        if (open === null || (compared !== null && slot <= compared)) inherited.add(slot);
      }
      open = slots;
    },
    told: (slot) => void own.add(slot),
    unheard: ({ signature, slot }) => {
      if (unheard.size < MOST_UNHEARD) unheard.set(signature, slot);
    },
    wasUnheard: ({ signature, slot }) => unheard.has(signature) || inherited.has(slot),
    compared: (fromSlot, toSlot) => {
      const isOpen = (slot: bigint) => own.has(slot) || open?.has(slot) === true;
      const isDone = (slot: bigint) => slot >= fromSlot && slot <= toSlot && !isOpen(slot);
      for (const slot of [...inherited].filter(isDone)) inherited.delete(slot);
      for (const [signature, slot] of unheard) if (isDone(slot)) unheard.delete(signature);
    },
  };
}
