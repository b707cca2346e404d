/** How the followed addresses are covered; `reason`: why some are not streamed, in words that may be served. */
export interface Followed {
  addresses: number;
  overRpc: number;
  reason: string | null;
  /** Why none of the others is streamed either, in the same kind of words; null where they are. */
  down: string | null;
}

/** What is told of the followed addresses, each time that something of it changes. */
export interface Standing {
  /** The first so many of the addresses are asked for. */
  asked(streamed: number): void;
  refused(words: string): void;
  /** Null: it brings something. */
  down(words: string | null): void;
  behind(isBehind: boolean): void;
}

const BEHIND = 'their stream is behind';

/** @param tell `overRpc`: addresses that no stream carries. */
export function createStanding(
  addresses: () => readonly string[],
  tell: (followed: Followed, overRpc: readonly string[]) => void,
): Standing {
  let streamed = 0;
  let refusal: string | null = null;
  let downWords: string | null = null;
  let isBehind = false;

  const tellAll = () => {
    const all = addresses();
    const rest = all.slice(streamed);
    const reason = rest.length === 0 ? null : refusal;
    const down = downWords ?? (isBehind ? BEHIND : null);
    tell({ addresses: all.length, overRpc: rest.length, reason, down }, rest);
  };
  return {
    asked: (count) => {
      streamed = count;
      tellAll();
    },
    refused: (words) => {
      refusal = words;
    },
    down: (words) => {
      if (words === downWords) return;
      downWords = words;
      tellAll();
    },
    behind: (now) => {
      isBehind = now;
      tellAll();
    },
  };
}
