import type { Store } from '../clickhouse/client.ts';
import {
  type GapState,
  gapStates,
  type IncompleteState,
  incompleteState,
} from '../clickhouse/queries/index-state.ts';
import { type IndexState, indexState, isOpen } from './index-state.ts';

/** Reads of sums together with what is known to be missing from them. */
export interface IndexReads {
  /**
   * What `read` makes of the index. It may be called again where what is missing changed meanwhile; the state that it
   * is given then held from before its first query until after its last.
   */
  settled<T>(store: Store, read: (state: IndexState) => Promise<T>): Promise<T>;
}

interface Missing {
  gaps: readonly GapState[];
  incomplete: IncompleteState;
}

const MOST_READS = 3;
const RESTLESS = 'history is not complete: what is missing of it is changing at this moment';

/** @param marker a text that changes with what is applied: as long as it stays, a state that was read is begun with again. */
export function createIndexReads(marker: () => string): IndexReads {
  const states = new WeakMap<Store, { marker: string; state: Promise<IndexState> }>();
  const looks = new WeakMap<Store, () => Promise<Missing>>();

  const stateOf = (store: Store): Promise<IndexState> => {
    const now = marker();
    const known = states.get(store);
    if (known?.marker === now) return known.state;
    const state = indexState(store);
    states.set(store, { marker: now, state });
    state.catch(() => states.delete(store));
    return state;
  };
  const lookAgain = (store: Store): Promise<Missing> => {
    let look = looks.get(store);
    if (look === undefined) {
      look = sharingNext(() => missingFrom(store));
      looks.set(store, look);
    }
    return look();
  };

  return {
    settled: async (store, read) => {
      let state = await stateOf(store);
      for (let reads = 1; ; reads += 1) {
        const answer = await read(state);
        if (isAsBefore(state, await lookAgain(store))) return answer;
        states.delete(store);
        state = await stateOf(store);
        if (reads === MOST_READS) return read({ ...state, historyReason: RESTLESS });
      }
    },
  };
}

async function missingFrom(store: Store): Promise<Missing> {
  const [gaps, incomplete] = await Promise.all([gapStates(store), incompleteState(store)]);
  return { gaps, incomplete };
}

/** A gap that opened and closed meanwhile is there as well, closed: gaps are kept. */
function isAsBefore(state: IndexState, now: Missing): boolean {
  const named = ({ gaps, incomplete }: Missing) => {
    const { count, undated, policies, days } = incomplete;
    const seen = gaps.map((gap) => [gap.from_slot, isOpen(gap, state.applied)]);
    return JSON.stringify([seen, count, undated, policies.toSorted(), days.toSorted()]);
  };
  return named(state) === named(now);
}

/** Every call is answered by a read that began after it; calls during one share the next. */
function sharingNext<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;
  const start = (): Promise<T> => {
    const started = read();
    running = started;
    const over = () => {
      if (running === started) running = null;
    };
    started.then(over, over);
    return started;
  };
  return () => {
    if (running === null) return start();
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null;
        return start();
      });
    return next;
  };
}
