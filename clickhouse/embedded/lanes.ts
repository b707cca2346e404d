/** Runs work. Within a lane it begins in the order of the calls; of waiting lanes the one that had least is next. */
export type Lane = <T>(work: () => Promise<T>) => Promise<T>;

interface Waiting {
  line: (() => void)[];
  /** Milliseconds for which it has held places, halved with time, as of `at`. */
  had: number;
  at: number;
}

const HALVED_IN_MS = 1_000;

/**
 * `most` places for work that keeps a core busy, shared by lanes: a lane with a little work now and then waits only for
 * what is under way, however much the other lanes have in line.
 * @param heldMs how long work holds its place: what takes longer goes on without one, so that no lane waits for ever
 * @param now milliseconds that only go forward
 */
export function createLanes(
  most: number,
  heldMs: number,
  now: () => number = () => performance.now(),
): { lane(): Lane } {
  let taken = 0;
  /** Lanes with work in line; of those that have had the same the first is next. */
  const waiting: Waiting[] = [];
  const hadNow = ({ had, at }: Waiting) => had * 0.5 ** ((now() - at) / HALVED_IN_MS);
  const callAll = () => {
    while (taken < most) {
      let next = waiting[0];
      if (next === undefined) return;
      for (const one of waiting) if (hadNow(one) < hadNow(next)) next = one;
      waiting.splice(waiting.indexOf(next), 1);
      const begin = next.line.shift();
      if (next.line.length > 0) waiting.push(next);
      taken += 1;
      begin?.();
    }
  };
  const take = (lane: Waiting) =>
    new Promise<void>((begin) => {
      if (lane.line.push(begin) === 1) waiting.push(lane);
      callAll();
    });
  const give = () => {
    taken -= 1;
    callAll();
  };

  return {
    lane: () => {
      const lane: Waiting = { line: [], had: 0, at: now() };
      return async (work) => {
        await take(lane);
        const begunAt = now();
        let isHeld = true;
        const leave = () => {
          if (!isHeld) return;
          isHeld = false;
          Object.assign(lane, { had: hadNow(lane) + now() - begunAt, at: now() });
          give();
        };
        const late = setTimeout(leave, heldMs).unref();
        try {
          return await work();
        } finally {
          clearTimeout(late);
          leave();
        }
      };
    },
  };
}
