import type { TakenBack } from './event-window.ts';
import type { ChainPosition } from './position.ts';

/** Other processes that a list may be read from hear of what was written so much later at most. */
const HEARD_MS = 2_000;
/** Where nothing was applied for so long it is told whatever is being written: that may never end. */
const STANDS_MS = 10_000;

interface Waiting {
  toldAt: number;
  /** The highest marker of any partition once other processes have heard of it. */
  highest: bigint | null;
  /** When each partition was seen to have come further than that. */
  passedAt: number | null;
  /** Whether it was told while the index stood. */
  stood: boolean;
}

export interface ToldOnce {
  /** Of one that waits already it is told once more all the same, from now on. */
  told(takenBack: readonly TakenBack[], now: number): void;
  /** What is to be told once more where the index has moved: each partition has come further than any was then. */
  dueAt(index: { slot: bigint; highest: bigint }, now: number): string[];
  toldAgain(takenBack: readonly TakenBack[]): void;
  /** What is to be told where it has stood for so long; where it moves again it is told once more all the same. */
  dueWhereItStands(ms: number): string[];
  toldWhereItStands(takenBack: readonly TakenBack[]): void;
}

/**
 * The mints whose gap was told once. The store has events before memory is told of them, and a partition shows what it
 * applied while another is still writing: the list that is read at the first gap may be from before. Until all that was
 * being written then is applied, and other processes have heard of it, it is too early for the last.
 */
export function createToldOnce(): ToldOnce {
  const waiting = new Map<string, Waiting>();
  const mintsOf = (isDue: (one: Waiting) => boolean): string[] =>
    [...waiting].filter(([, one]) => isDue(one)).map(([mint]) => mint);
  return {
    told: (takenBack, now) => {
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
    toldAgain: (takenBack) => {
      for (const { mint } of takenBack) waiting.delete(mint);
    },
    dueWhereItStands: (ms) => (ms < STANDS_MS ? [] : mintsOf(({ stood }) => !stood)),
    toldWhereItStands: (takenBack) => {
      for (const { mint } of takenBack) {
        const one = waiting.get(mint);
        if (one !== undefined) one.stood = true;
      }
    },
  };
}

export const takenBackAt = (mints: readonly string[], position: ChainPosition): TakenBack[] =>
  mints.map((mint) => ({ mint, position }));
