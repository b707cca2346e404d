/** How the followed addresses are covered; `reason`: why some are not streamed, in words that may be served. */
export interface Followed {
  addresses: number;
  overRpc: number;
  reason: string | null;
  /** Why none of the others is streamed either, in the same kind of words; null where they are. */
  down: string | null;
}

/** Collects what is to be told of the followed addresses, and tells it at each change. */
export interface FollowedStatus {
  /** A request asks for the first `streamed` of all addresses. */
  asked(all: readonly string[], streamed: number): void;
  /** So many more addresses came up, and will be asked for soon. */
  added(count: number): void;
  /** None of them is streamed for a while, whatever is asked for. */
  away(isAway: boolean): void;
  refused(words: string): void;
  /** Why the stream brings nothing; null: it brings something. */
  down(words: string | null): void;
  behind(isBehind: boolean): void;
}

const BEHIND = 'their stream is behind';

/** @param tell `overRpc`: addresses that no stream carries. */
export function createFollowedStatus(
  tell: (followed: Followed, overRpc: readonly string[]) => void,
): FollowedStatus {
  let all: readonly string[] = [];
  let addresses = 0;
  let carried = 0;
  let isAway = false;
  let rest: readonly string[] = [];
  let refusal: string | null = null;
  let downWords: string | null = null;
  let isBehind = false;

  const tellAll = () => {
    const reason = rest.length === 0 ? null : refusal;
    const down = downWords ?? (isBehind ? BEHIND : null);
    tell({ addresses, overRpc: rest.length, reason, down }, rest);
  };
  const place = () => {
    addresses = all.length;
    rest = isAway ? all : all.slice(carried);
    tellAll();
  };
  return {
    asked: (list, streamed) => {
      all = list;
      carried = streamed;
      place();
    },
    away: (now) => {
      isAway = now;
      place();
    },
    added: (count) => {
      addresses += count;
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
