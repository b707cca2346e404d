import type { Gap } from './gap.ts';
import type { Due } from './next-due.ts';

/** A gap that is to be closed, and how its tries went. */
export interface GapTask extends Due {
  gap: Gap;
  /** Given once one that reaches further has taken its place, or another process has read it: nothing more is told of it. */
  replaced: AbortController;
  attempt: number;
  /** Times in a row that no node knew where the list goes on. */
  lost: number;
  /** Since when, by performance.now(), the chain is not far enough behind it, or that was told last; null where it is. */
  unsettledSince: number | null;
  /** The obstacle that the log was told of. */
  told: string;
  /** A marker behind this slot is behind all that the log was told of it; null while it is being told. */
  toldAt: bigint | null;
}

export const taskOf = (gap: Gap, toldAt: bigint): GapTask => ({
  gap: { ...gap },
  replaced: new AbortController(),
  attempt: 0,
  lost: 0,
  unsettledSince: null,
  told: '',
  toldAt,
  notBefore: 0,
});
