import { useEffect, useState } from 'preact/hooks';

const EVERY_MS = 4_000;

/** Counts that move when there is something new of a policy; both are read again then. */
export interface Live {
  open: boolean;
  events: number;
  posts: number;
}

export function useLive(mint: string | null, onEvents: () => void): Live {
  const [rounds, setRounds] = useState(0);
  // What is called is always the newest.
  useEffect(() => {
    if (mint === null) return;
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return;
      setRounds((round) => round + 1);
      onEvents();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [mint]);
  return { open: true, events: rounds, posts: rounds };
}
