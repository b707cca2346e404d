/** Who asks in one lane begins in the order of asking; lanes that wait take turns. */
export type Lane = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * So many places for work that keeps a core busy, shared by lanes.
 * @param heldMs what takes longer goes on without its place: nobody waits for what never ends
 */
export function createPlaces(most: number, heldMs: number): { lane(): Lane } {
  let taken = 0;
  /** Each of them not empty, the next one first. */
  const lines: (() => void)[][] = [];
  const callAll = () => {
    while (taken < most) {
      const line = lines.shift();
      if (line === undefined) return;
      const begin = line.shift();
      if (line.length > 0) lines.push(line);
      taken += 1;
      begin?.();
    }
  };
  const take = (line: (() => void)[]) =>
    new Promise<void>((begin) => {
      if (line.push(begin) === 1) lines.push(line);
      callAll();
    });
  const give = () => {
    taken -= 1;
    callAll();
  };

  return {
    lane: () => {
      const line: (() => void)[] = [];
      return async (work) => {
        await take(line);
        let isHeld = true;
        const leave = () => {
          if (isHeld) give();
          isHeld = false;
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
