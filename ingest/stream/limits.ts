/** Times that are other than they are by themselves. */
export interface StreamLimits {
  /** A stream without a new slot for this long is started again. */
  silenceMs?: number;
  /** The stream of followed addresses is away once it has brought nothing for so long. */
  awayAfterMs?: number;
  /** It is tried again so much later where a provider ends the core's stream for it. */
  aloneMs?: number;
  /** Accounts that no stream carries are read over RPC this far apart, a hundred at a time. */
  rotaMs?: number;
  /** What was listed of the program's accounts is compared so often, and asked for again where no node lists them. */
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
