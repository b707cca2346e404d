import {
  limitsStreams,
  mayBeTheRequest,
  namedCap,
  refusesFilter,
  replayEnd,
  type StreamEndedError,
} from '../geyser/ended.ts';

/** What is asked of a provider for followed addresses, after what it has refused. Pure. */
export interface Ask {
  /** Most addresses of one request; null: all of them. */
  cap: number | null;
  /** Whether a replay is asked for. */
  replay: boolean;
  /** Ends that say neither what was wrong nor that nothing was, one after the other. */
  silent: number;
}

export const ASK_ALL: Ask = { cap: null, replay: true, silent: 0 };

/** Ends without a word until fewer addresses are tried. */
const SILENT_ENDS = 2;

/** A request that the server has not been seen to work by. */
export interface Tried {
  addresses: number;
  replay: boolean;
}

/**
 * What to ask for after a request ended the stream before it was seen to work: without a replay where that may be
 * what is refused, else for as many addresses as the refusal names, else for half as many.
 */
export function askAfter(ask: Ask, tried: Tried, ended: StreamEndedError): Ask {
  // Silence is the provider's, and what it replays may be nothing.
  if (ended.cancelled) {
    if (!tried.replay) return ask;
    return ask.silent > 0 ? { ...ask, replay: false, silent: 0 } : { ...ask, silent: 1 };
  }
  if (!mayBeTheRequest(ended) || limitsStreams(ended)) return ask;
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
