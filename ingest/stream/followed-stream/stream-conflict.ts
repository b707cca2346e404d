export type Who = 'core' | 'beside';

/**
 * Whether the core's stream and the one beside it end one another: some providers keep the newest stream of a token and
 * end those before it.
 */
export interface StreamConflict {
  began(who: Who): void;
  /**
   * Answers whether it was the beginning of the other that ended it, as far as times tell. Where it was cancelled here,
   * for its silence or the other's sake, that says nothing of the provider.
   */
  ended(who: Who, isOurs?: boolean): boolean;
  /** Once they do they do until they are tried again. */
  isKnown(): boolean;
  /** They are tried beside each other once more: one end of that kind tells by now. */
  tryAgain(): void;
}

/** A stream that ends so soon after the other began may have ended for that. */
const SOON_MS = 5_000;
/** Such ends in a row, of one and the other in turns, until it is told: the core has ended three times by then. */
const TOLD_AFTER = 5;

export function createStreamConflict(now = () => performance.now()): StreamConflict {
  const open: Record<Who, { begun: number; at: number } | null> = { core: null, beside: null };
  let begun = 0;
  let row = 0;
  let last: Who | null = null;
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
