/** Durations in milliseconds that replace the defaults. */
export interface StreamLimits {
  /** A stream without a new slot for this long is started again. */
  silenceMs?: number;
  /** The stream of followed addresses counts as away once it has brought nothing for this long. */
  awayAfterMs?: number;
  /** How long that stream is left alone where a provider ends the core's stream for it. */
  aloneMs?: number;
  /** Accounts that no stream carries are read over RPC this far apart, a hundred at a time. */
  rotaMs?: number;
  /**
   * How often the listed accounts of the program are compared with history; where no node lists them, they are asked
   * for again as often.
   */
  compareMs?: number;
}

export const limitsOf = ({
  silenceMs,
  awayAfterMs,
  aloneMs,
  rotaMs,
  compareMs,
}: StreamLimits): StreamLimits => ({
  ...(silenceMs === undefined ? {} : { silenceMs }),
  ...(awayAfterMs === undefined ? {} : { awayAfterMs }),
  ...(aloneMs === undefined ? {} : { aloneMs }),
  ...(rotaMs === undefined ? {} : { rotaMs }),
  ...(compareMs === undefined ? {} : { compareMs }),
});
