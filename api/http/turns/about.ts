/** Whether somebody who has had little asked of late: those who have had much make room for him. */
export interface About {
  /** He asked, and has had little. */
  note(address: string): void;
  /** He asked, and has had much by now: he is nobody to make room for. */
  leave(address: string): void;
  /** @param except who wants to know it for himself: nobody makes room for himself */
  isAbout(except?: string): boolean;
}

const ABOUT_MS = 1_000;

/** @param now milliseconds that only go forward */
export function createAbout(now: () => number): About {
  /** Who asked and when, longest ago first. */
  const asked = new Map<string, { at: number }>();
  let last: { address: string; asked: { at: number } } | null = null;
  const forget = (address: string) => {
    asked.delete(address);
    if (last?.address === address) last = null;
  };

  return {
    note: (address) => {
      if (last?.address === address) last.asked.at = now();
      else {
        last = { address, asked: { at: now() } };
        asked.delete(address);
        asked.set(address, last.asked);
      }
    },
    leave: forget,
    isAbout: (except) => {
      const since = now() - ABOUT_MS;
      for (const [address, { at }] of asked) {
        if (at >= since) break;
        forget(address);
      }
      return asked.size > (except !== undefined && asked.has(except) ? 1 : 0);
    },
  };
}
