/**
 * Whether the stream beside the core is away, so that its addresses are read over RPC; and the slots that were missed
 * by that.
 */
export interface Outage {
  /** The stream brings something. Answers whether it was away. */
  heard(): boolean;
  /** The stream could not bring anything until now: the time counts from here. */
  restartTimer(): void;
  /** Whether it has brought nothing for so long that it counts as away, or is to be declared so. */
  isDue(): boolean;
  /** @param reached, core the slots that the stream and the core have come to. */
  begin(reached: bigint | null, core: bigint | null): void;
  isAway(): boolean;
  /** The slots of which nothing is known until every address was read behind them; null once they were. */
  unread(): { after: bigint; to: bigint } | null;
  /** Every address was read behind those slots. */
  allRead(): void;
}

/** A stream that has brought nothing for this long is away. */
const AWAY_AFTER_MS = 30_000;

export function createOutage(afterMs = AWAY_AFTER_MS, now = () => performance.now()): Outage {
  let heardAt = now();
  let away = false;
  let unread: { after: bigint; to: bigint } | null = null;
  return {
    heard: () => {
      const was = away;
      heardAt = now();
      away = false;
      unread = null;
      return was;
    },
    restartTimer: () => {
      heardAt = now();
    },
    isDue: () => now() - heardAt >= afterMs,
    begin: (reached, core) => {
      away = true;
      // A stream that never began followed nothing, so it has missed nothing.
      unread =
        reached === null ? null : { after: reached, to: core === null || core < reached ? reached : core };
    },
    isAway: () => away,
    unread: () => unread,
    allRead: () => {
      unread = null;
    },
  };
}
