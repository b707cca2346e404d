import type { Cell, Source } from './cells/cells.ts';
import type { IndexState } from './index-state.ts';

/**
 * The state of the index in two parts: `progress` moves with every slot, `missing` hardly ever. `ranked` holds no
 * value, its stamp is the version of the orders.
 */
export interface StateCells {
  progress: Cell;
  missing: Cell;
  ranked: Cell;
}

/** The state of the index; each part of it is noted as used when it is read. */
export const tracked = (cells: StateCells, use: (source: Source) => void): IndexState =>
  new TrackedState(cells, use);

/**
 * A class, as few things here are: V8 puts the getters of an object literal into the old generation, and everything
 * they close over, here all of an answer, stays in memory until a full garbage collection.
 */
class TrackedState implements IndexState {
  readonly #cells: StateCells;
  readonly #use: (source: Source) => void;
  /** The states when this was made: one answer sees one state. */
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
  /** A slot once reached stays reached: only an answer that still waits for one depends on every new slot. */
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
