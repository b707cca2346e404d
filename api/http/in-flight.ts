import { createBag } from '../../runtime/bag.ts';

/** Work that has begun and not ended. */
export interface InFlight {
  note(work: Promise<unknown>): void;
  /** Resolves once nothing is under way. */
  done(): Promise<void>;
}

/** Tracks work whose client may be gone: no connection tells of it any more. */
export function createInFlight(): InFlight {
  const works = createBag<Promise<unknown>>();
  return {
    note: (work) => {
      const ended = works.add(work);
      work.then(ended, ended);
    },
    done: async () => {
      while (works.size() > 0) await Promise.allSettled(works.all());
    },
  };
}
