/** A time in which the stream beside the core is away: its addresses are read over RPC. */
export interface Outage {
  /** It brings something. Answers whether it was away. */
  heard(): boolean;
  /** It could not be here until now. */
  excused(): void;
  /** Whether it has brought nothing for so long that it is away, or has to be called so. */
  isDue(): boolean;
  /** @param reached, core the slots that the stream and the core have come to. */
  begin(reached: bigint | null, core: bigint | null): void;
  isAway(): boolean;
  /** The slots of which nothing is known until every address was read behind them; null once they were. */
  unread(): { after: bigint; to: bigint } | null;
  /** Every address was. */
  allRead(): void;
}

/** Without anything of it for so long a stream is away. */
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
    excused: () => {
      heardAt = now();
    },
    isDue: () => now() - heardAt >= afterMs,
    begin: (reached, core) => {
      away = true;
      // Nothing was followed where it never began.
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
