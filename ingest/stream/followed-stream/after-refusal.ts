import {
  limitsStreams,
  mayBeCausedByRequest,
  namedCap,
  refusesFilter,
  replayEnd,
  type StreamEndedError,
} from '../geyser/ended.ts';

/** What the next request for followed addresses asks for, after what the provider has refused. Pure. */
export interface RequestScope {
  /** Most addresses of one request; null: all of them. */
  cap: number | null;
  /** Whether a replay is asked for. */
  replay: boolean;
  /** Ends in a row that do not say what was wrong. */
  silent: number;
}

export const FULL_SCOPE: RequestScope = { cap: null, replay: true, silent: 0 };

/** Such ends until fewer addresses are tried. */
const SILENT_ENDS = 2;

/** A request that no block meta has shown to be at work yet. */
export interface Tried {
  addresses: number;
  replay: boolean;
}

/**
 * What to ask for after a request ended the stream before it was seen to work: as many addresses as the refusal names,
 * else no replay where that may be what is refused, else half as many addresses.
 */
export function scopeAfter(ask: RequestScope, tried: Tried, ended: StreamEndedError): RequestScope {
  // This side ended the stream for its silence: that is no refusal of the addresses, but the replay may bring nothing.
  if (ended.cancelled) {
    if (!tried.replay) return ask;
    return ask.silent > 0 ? { ...ask, replay: false, silent: 0 } : { ...ask, silent: 1 };
  }
  if (!mayBeCausedByRequest(ended) || limitsStreams(ended)) return ask;
  const named = namedCap(ended);
  if (refusesFilter(ended) && named !== null && named < tried.addresses)
    return { ...ask, cap: named, silent: 0 };
  if (tried.replay) {
    const isReplay = replayEnd(ended) === 'gone' || ask.silent > 0 || !refusesFilter(ended);
    return isReplay ? { ...ask, replay: false, silent: 0 } : { ...ask, silent: ask.silent + 1 };
  }
  if (!refusesFilter(ended) && ask.silent + 1 < SILENT_ENDS) return { ...ask, silent: ask.silent + 1 };
  return { ...ask, cap: Math.floor(tried.addresses / 2), silent: 0 };
}
