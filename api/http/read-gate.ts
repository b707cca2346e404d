/** More reads are under way and wait than may: to be told as 503 `busy`. */
export class BusyError extends Error {
  override name = 'BusyError';
}

export interface ReadGateOptions {
  /** Reads under way side by side. */
  atOnce: number;
  /** Reads that wait for their turn, of all addresses together. */
  most?: number;
  waitMs?: number;
}

/** Runs work once there is room for it. @throws BusyError */
export type ReadGate = <T>(address: string, work: () => Promise<T>) => Promise<T>;

interface Waiting {
  begin(): void;
  refuse(): void;
}

const MOST = 512;
const WAIT_MS = 5_000;

/**
 * Reads wait in a line for each client address, and the lines take turns: whoever asks much waits behind himself. Where
 * all places to wait are taken, the longest line gives one up.
 */
export function createReadGate({ atOnce, most = MOST, waitMs = WAIT_MS }: ReadGateOptions): ReadGate {
  let underWay = 0;
  let waiting = 0;
  const lines = new Map<string, Waiting[]>();

  function leave(address: string, one: Waiting): void {
    const line = lines.get(address) ?? [];
    const at = line.indexOf(one);
    if (at < 0) return;
    line.splice(at, 1);
    waiting -= 1;
    if (line.length === 0) lines.delete(address);
  }

  function makeRoom(address: string): void {
    if (waiting < most) return;
    let longest = address;
    let length = (lines.get(address)?.length ?? 0) + 1;
    for (const [other, line] of lines) if (line.length > length) [longest, length] = [other, line.length];
    const last = longest === address ? undefined : lines.get(longest)?.at(-1);
    if (last === undefined) throw new BusyError('too many reads wait');
    leave(longest, last);
    last.refuse();
  }

  function next(): void {
    const [address, line] = lines.entries().next().value ?? [];
    const one = line?.[0];
    if (address === undefined || line === undefined || one === undefined || underWay >= atOnce) return;
    leave(address, one);
    // The next turn is another line's.
    if (lines.delete(address)) lines.set(address, line);
    underWay += 1;
    one.begin();
  }

  function turn(address: string): Promise<void> {
    if (underWay < atOnce && waiting === 0) {
      underWay += 1;
      return Promise.resolve();
    }
    makeRoom(address);
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        leave(address, one);
        one.refuse();
      }, waitMs);
      const one: Waiting = {
        begin: () => {
          clearTimeout(late);
          resolve();
        },
        refuse: () => {
          clearTimeout(late);
          reject(new BusyError('too many reads wait'));
        },
      };
      waiting += 1;
      const line = lines.get(address);
      if (line === undefined) lines.set(address, [one]);
      else line.push(one);
    });
  }

  return async (address, work) => {
    await turn(address);
    try {
      return await work();
    } finally {
      underWay -= 1;
      next();
    }
  };
}
