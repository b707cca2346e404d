/** Who asked of late and has had little: those who have had much make room for them. */
export interface ModestClients {
  /** He asked, and has had little. */
  note(address: string): void;
  /** He asked, and has had much by now: he is nobody to make room for. */
  leave(address: string): void;
  /** Whether there are any. @param except who wants to know it for himself: nobody makes room for himself */
  anyRecent(except?: string): boolean;
}

const RECENT_MS = 1_000;

/** @param now milliseconds that only go forward */
export function createModestClients(now: () => number): ModestClients {
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
    anyRecent: (except) => {
      const since = now() - RECENT_MS;
      for (const [address, { at }] of asked) {
        if (at >= since) break;
        forget(address);
      }
      return asked.size > (except !== undefined && asked.has(except) ? 1 : 0);
    },
  };
}
