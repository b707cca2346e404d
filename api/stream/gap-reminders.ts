import type { TakenBack } from './event-window.ts';
import type { ChainPosition } from './position.ts';

/** The longest that other processes, which a list may be read from, take to hear of what was written. */
const HEARD_MS = 2_000;
/** Where nothing was applied for this long, a mint is told of again whatever is being written: that may never end. */
const STANDSTILL_MS = 10_000;

interface Waiting {
  toldAt: number;
  /** The highest marker of any partition, as it was once other processes had heard of the write; null until then. */
  highest: bigint | null;
  /** When every partition was first seen to have come further than `highest`. */
  passedAt: number | null;
  /** Whether clients were told of it again while the index stood still. */
  stood: boolean;
}

export interface GapReminders {
  /** Notes mints whose gap was sent. For one that waits already, the wait begins anew. */
  noteSent(takenBack: readonly TakenBack[], now: number): void;
  /** Mints to tell of again where the index has moved: each partition has come further than any had then. */
  dueAt(index: { slot: bigint; highest: bigint }, now: number): string[];
  reminded(takenBack: readonly TakenBack[]): void;
  /** Mints to tell of again where the index has stood still for so long; once it moves they are told of once more. */
  dueAtStandstill(ms: number): string[];
  remindedAtStandstill(takenBack: readonly TakenBack[]): void;
}

/**
 * The mints whose gap was sent once, and has to be sent again. The store has events before memory is notified of them,
 * and a partition shows what it applied while another is still writing: the list that is read at the first gap may be
 * from before. The last gap has to wait until all that was being written then is applied, and other processes have
 * heard of it.
 */
export function createGapReminders(): GapReminders {
  const waiting = new Map<string, Waiting>();
  const mintsOf = (isDue: (one: Waiting) => boolean): string[] =>
    [...waiting].filter(([, one]) => isDue(one)).map(([mint]) => mint);
  return {
    noteSent: (takenBack, now) => {
      for (const { mint } of takenBack)
        waiting.set(mint, { toldAt: now, highest: null, passedAt: null, stood: false });
    },
    dueAt: ({ slot, highest }, now) => {
      for (const one of waiting.values()) {
        if (now - one.toldAt >= HEARD_MS) one.highest ??= highest;
        if (one.highest !== null && slot > one.highest) one.passedAt ??= now;
      }
      return mintsOf(({ passedAt }) => passedAt !== null && now - passedAt >= HEARD_MS);
    },
    reminded: (takenBack) => {
      for (const { mint } of takenBack) waiting.delete(mint);
    },
    dueAtStandstill: (ms) => (ms < STANDSTILL_MS ? [] : mintsOf(({ stood }) => !stood)),
    remindedAtStandstill: (takenBack) => {
      for (const { mint } of takenBack) {
        const one = waiting.get(mint);
        if (one !== undefined) one.stood = true;
      }
    },
  };
}

export const takenBackAt = (mints: readonly string[], position: ChainPosition): TakenBack[] =>
  mints.map((mint) => ({ mint, position }));
