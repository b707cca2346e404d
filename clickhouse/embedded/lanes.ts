/** Who asks in one lane begins in the order of asking; of lanes that wait the one that has had least is next. */
export type Lane = <T>(work: () => Promise<T>) => Promise<T>;

interface Waiting {
  line: (() => void)[];
  /** Milliseconds of places, as of `at`. */
  had: number;
  at: number;
}

const HALVED_IN_MS = 1_000;

/**
 * So many places for work that keeps a core busy, shared by lanes: a lane that asks for little now and then waits for no
 * more than what is under way, whatever the others have in their lines.
 * @param heldMs what takes longer goes on without its place: nobody waits for what never ends
 * @param now milliseconds that only go forward
 */
export function createLanes(
  most: number,
  heldMs: number,
  now: () => number = () => performance.now(),
): { lane(): Lane } {
  let taken = 0;
  /** Lanes somebody waits in; of those that have had the same the first is next. */
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
