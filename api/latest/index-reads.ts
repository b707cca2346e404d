import type { Store } from '../../clickhouse/client.ts';
import { missingMark } from '../../clickhouse/queries/index-state.ts';
import { type IndexState, indexState } from '../latest/index-state.ts';

/** Reads of sums together with what is known to be missing from them. */
export interface IndexReads {
  /**
   * What `task` makes of the index. It is called again where what is missing changed meanwhile: the state that it is
   * given last held from before its first query until after its last.
   */
  readAsOne<T>(store: Store, task: (state: IndexState) => Promise<T>): Promise<T>;
}

interface Begun {
  state: IndexState;
  /** Read before the state. */
  mark: string;
}

const MOST_READS = 3;
const RESTLESS = 'history is not complete: what is missing of it is changing at this moment';

/** @param marker a text that changes with what is applied: as long as it stays, a state that was read is begun with again. */
export function createIndexReads(marker: () => string): IndexReads {
  const states = new WeakMap<Store, { marker: string; begun: Promise<Begun> }>();

  const begin = (store: Store): Promise<Begun> => {
    const now = marker();
    const known = states.get(store);
    if (known?.marker === now) return known.begun;
    const begun = read(store);
    states.set(store, { marker: now, begun });
    begun.catch(() => states.delete(store));
    return begun;
  };

  return {
    readAsOne: async (store, task) => {
      for (let tries = 1; ; tries += 1) {
        const { state, mark } = await begin(store);
        const answer = await task(
          tries > MOST_READS ? { ...state, openGaps: [], historyReason: RESTLESS } : state,
        );
        if (tries > MOST_READS || (await missingMark(store)) === mark) return answer;
        states.delete(store);
      }
    },
  };
}

async function read(store: Store): Promise<Begun> {
  const mark = await missingMark(store);
  return { state: await indexState(store), mark };
}
