import type { Cell, Source } from './cells/cells.ts';
import type { IndexState } from './index-state.ts';

/** The state of the index in two parts: one moves with every slot, the other hardly ever. */
export interface StateCells {
  progress: Cell;
  missing: Cell;
  ranked: Cell;
}

/** The state, each part of it noted as used where it is looked at. */
export const tracked = (cells: StateCells, use: (source: Source) => void): IndexState =>
  new TrackedState(cells, use);

/**
 * A class, as few things here are: V8 puts the getters of a literal among the old objects, and with them all that they see,
 * here the whole of an answer, stays until it looks through the whole heap.
 */
class TrackedState implements IndexState {
  readonly #cells: StateCells;
  readonly #use: (source: Source) => void;
  /** As they are when it is made: one answer, one state. */
  readonly #newest: IndexState;
  readonly #state: IndexState;
  #usesProgress = false;
  #usesMissing = false;

  constructor(cells: StateCells, use: (source: Source) => void) {
    this.#cells = cells;
    this.#use = use;
    this.#newest = cells.progress.value as IndexState;
    this.#state = cells.missing.value as IndexState;
  }

  get applied(): IndexState['applied'] {
    return this.#moving().applied;
  }
  get markerTime(): IndexState['markerTime'] {
    return this.#moving().markerTime;
  }
  get followedTime(): IndexState['followedTime'] {
    return this.#moving().followedTime;
  }
  /** It does not go back: who waits for a slot alone is told of each that comes. */
  hasReached(slot: string): boolean {
    return this.#newest.hasReached(slot) || this.#moving().hasReached(slot);
  }
  get gaps(): IndexState['gaps'] {
    return this.#still().gaps;
  }
  get openGaps(): IndexState['openGaps'] {
    return this.#still().openGaps;
  }
  get incomplete(): IndexState['incomplete'] {
    return this.#still().incomplete;
  }
  get isSettled(): IndexState['isSettled'] {
    return this.#still().isSettled;
  }
  get historyReason(): IndexState['historyReason'] {
    return this.#still().historyReason;
  }

  #moving(): IndexState {
    if (!this.#usesProgress) this.#use(this.#cells.progress);
    this.#usesProgress = true;
    return this.#newest;
  }

  #still(): IndexState {
    if (!this.#usesMissing) this.#use(this.#cells.missing);
    this.#usesMissing = true;
    return this.#state;
  }
}
