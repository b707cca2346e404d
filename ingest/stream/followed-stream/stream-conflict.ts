export type StreamRole = 'core' | 'beside';

/**
 * Whether the core's stream and the one beside it end one another: some providers keep the newest stream of a token and
 * end those before it.
 */
export interface StreamConflict {
  began(who: StreamRole): void;
  /**
   * Answers whether the beginning of the other stream ended this one, as far as times tell. `isOurs`: it was cancelled
   * here, for its silence or for the other's sake, which says nothing of the provider.
   */
  ended(who: StreamRole, isOurs?: boolean): boolean;
  /** Whether the two end one another: once known, until `tryAgain`. */
  isKnown(): boolean;
  /** Both are tried beside each other once more: a single end of that kind is enough from now on. */
  tryAgain(): void;
}

/** A stream that ends so soon after the other began may have ended because of that. */
const SOON_MS = 5_000;
/**
 * Such ends in a row, of the two in turns, until the conflict counts as known: the core has ended at most three times
 * by then.
 */
const TOLD_AFTER = 5;

export function createStreamConflict(now = () => performance.now()): StreamConflict {
  const open: Record<StreamRole, { begun: number; at: number } | null> = { core: null, beside: null };
  let begun = 0;
  let row = 0;
  let last: StreamRole | null = null;
  let wasKnown = false;
  let isKnown = false;
  return {
    began: (who) => {
      begun += 1;
      open[who] = { begun, at: now() };
    },
    ended: (who, isOurs = false) => {
      const [own, other] = [open[who], open[who === 'core' ? 'beside' : 'core']];
      open[who] = null;
      const isFor = own !== null && other !== null && other.begun > own.begun;
      const isSoon = isFor && now() - other.at < SOON_MS;
      if (isFor && !isSoon) wasKnown = false;
      if (isOurs) return isSoon;
      row = !isSoon ? 0 : last === who ? 1 : row + 1;
      last = isSoon ? who : null;
      isKnown ||= row >= (wasKnown ? 1 : TOLD_AFTER);
      return isSoon;
    },
    isKnown: () => isKnown,
    tryAgain: () => {
      row = 0;
      last = null;
      wasKnown = true;
      isKnown = false;
    },
  };
}
