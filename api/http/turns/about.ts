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
  /** When each asked last, longest ago first. */
  const asked = new Map<string, number>();

  return {
    note: (address) => {
      asked.delete(address);
      asked.set(address, now());
    },
    leave: (address) => void asked.delete(address),
    isAbout: (except) => {
      const since = now() - ABOUT_MS;
      for (const [address, at] of asked) {
        if (at >= since) break;
        asked.delete(address);
      }
      return asked.size > (except !== undefined && asked.has(except) ? 1 : 0);
    },
  };
}
