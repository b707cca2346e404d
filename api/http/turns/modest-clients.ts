/** Clients that asked recently and have used little: those that have used much make room for them. */
export interface ModestClients {
  /** Notes that a client asked that has used little. */
  note(address: string): void;
  /** Notes that a client asked that has used much by now: nobody makes room for it. */
  remove(address: string): void;
  /** Whether there are any. @param except the client that this is asked for: it makes no room for itself */
  anyRecent(except?: string): boolean;
}

const RECENT_MS = 1_000;

/** @param now milliseconds that only go forward */
export function createModestClients(now: () => number): ModestClients {
  /** When each address last asked, longest ago first. */
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
    remove: forget,
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
