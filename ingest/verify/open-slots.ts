import { BEFORE_ALL, type LateSlots } from './late-slots.ts';
import type { PlacedTransaction } from './verify-window.ts';

type Placed = Pick<PlacedTransaction, 'signature' | 'slot'>;

/** Slots that gaps of their own keep open: the comparison passes them over, and comes back to each once it is closed. */
export interface OpenSlots {
  /** Sets the slots that are open now. @param compared everything up to there was compared */
  setOpen(slots: ReadonlySet<bigint>, compared: bigint | null): void;
  /** This process has told the log that the slot is open. */
  onLogged(slot: bigint): void;
  /** Remembers a transaction that cannot be read, and of which the stream had brought nothing. */
  rememberUnheard(one: Placed): void;
  /** Whether `rememberUnheard` was called with it, or may have been by an earlier process. */
  mayBeUnheard(one: Placed): boolean;
  /** The closed slots of this range were compared, and what their transactions wrote was told: they are forgotten. */
  compared(fromSlot: bigint, toSlot: bigint): void;
}

/** Transactions remembered at most. */
const MOST_UNHEARD = 10_000;

export function createOpenSlots(late: LateSlots): OpenSlots {
  let open: ReadonlySet<bigint> | null = null;
  /** Told to the log as open, and not applied yet. */
  const own = new Set<bigint>();
  /** Slots that an earlier process opened: which transactions the stream missed there is not known. */
  const inherited = new Set<bigint>();
  const unheard = new Map<string, bigint>();
  return {
    setOpen: (slots, compared) => {
      for (const slot of open ?? []) if (!slots.has(slot)) late.add(slot, BEFORE_ALL);
      for (const slot of slots) {
        if (own.delete(slot) || open?.has(slot) === true) continue;
        if (open === null || (compared !== null && slot <= compared)) inherited.add(slot);
      }
      open = slots;
    },
    onLogged: (slot) => void own.add(slot),
    rememberUnheard: ({ signature, slot }) => {
      if (unheard.size < MOST_UNHEARD) unheard.set(signature, slot);
    },
    mayBeUnheard: ({ signature, slot }) => unheard.has(signature) || inherited.has(slot),
    compared: (fromSlot, toSlot) => {
      const isOpen = (slot: bigint) => own.has(slot) || open?.has(slot) === true;
      const isDone = (slot: bigint) => slot >= fromSlot && slot <= toSlot && !isOpen(slot);
      for (const slot of [...inherited].filter(isDone)) inherited.delete(slot);
      for (const [signature, slot] of unheard) if (isDone(slot)) unheard.delete(signature);
    },
  };
}
