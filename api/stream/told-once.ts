import type { TakenBack } from './event-window.ts';
import type { ChainPosition } from './position.ts';

/** Other processes that a list may be read from hear of what was written so much later at most. */
const HEARD_MS = 2_000;
/** Where nothing was applied for so long nothing is being written that was begun before. */
const STANDS_MS = 10_000;

interface Waiting {
  toldAt: number;
  /** The highest marker of any partition once other processes have heard of it. */
  highest: bigint | null;
}

export interface ToldOnce {
  /** Of one that waits already it is told once more all the same, from now on. */
  told(takenBack: readonly TakenBack[], now: number): void;
  /** What is to be told once more where the index has moved: each partition has come further than any was then. */
  dueAt(index: { slot: bigint; highest: bigint }, now: number): string[];
  /** … and where it has stood for so long. */
  dueWhereItStands(ms: number): string[];
  toldAgain(takenBack: readonly TakenBack[]): void;
}

/**
 * The mints whose gap was told once. The store has events before memory is told of them, and a partition shows what it
 * applied while another is still writing: the list that is read at the first gap may be from before. Until all that was
 * being written then is applied it is too early for the second, which is the last.
 */
export function createToldOnce(): ToldOnce {
  const waiting = new Map<string, Waiting>();
  return {
    told: (takenBack, now) => {
      for (const { mint } of takenBack) waiting.set(mint, { toldAt: now, highest: null });
    },
    dueAt: ({ slot, highest }, now) => {
      const heard = [...waiting].filter(([, { toldAt }]) => now - toldAt >= HEARD_MS);
      for (const [, one] of heard) one.highest ??= highest;
      return heard.filter(([, one]) => one.highest !== null && slot > one.highest).map(([mint]) => mint);
    },
    dueWhereItStands: (ms) => (ms < STANDS_MS ? [] : [...waiting.keys()]),
    toldAgain: (takenBack) => {
      for (const { mint } of takenBack) waiting.delete(mint);
    },
  };
}

export const takenBackAt = (mints: readonly string[], position: ChainPosition): TakenBack[] =>
  mints.map((mint) => ({ mint, position }));
