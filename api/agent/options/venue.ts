import { RetryableError } from '../../../runtime/errors.ts';
import { createBucket } from '../../../runtime/outside/bucket.ts';
import { fetchBounded } from '../../../runtime/outside/fetch.ts';
import { optionsResult, retryAfter } from '../../../runtime/outside/venue-call.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import { MalformedError } from '../../../schemas/malformed.ts';
import { objectOf } from '../../../schemas/venues/decimal.ts';
import {
  INSTRUMENT_NOT_FOUND,
  NOT_LIVE,
  type OptionInstrument,
  type OptionTicker,
  RATE_LIMITED,
  readInstrument,
  readTicker,
  VenueRefusal,
} from '../../../schemas/venues/options.ts';
import { Refusal } from '../refusal.ts';

/** The venue answered in its usual form, but what it said of an instrument cannot be read. */
export class UnreadableAnswer extends Refusal {
  constructor(cause: MalformedError) {
    super('venue_unreachable', 'the options venue’s answer could not be read; nothing was stored');
    this.cause = cause;
  }
}

/** The venue answered with an error of its own that is neither an unknown instrument nor its rate limit. */
export class ErrorAnswer extends Refusal {
  readonly venueCode: number;

  constructor(cause: VenueRefusal) {
    super('venue_unreachable', `the options venue answered error ${cause.code}; nothing was stored`);
    this.cause = cause;
    this.venueCode = cause.code;
  }
}

/** The options venue, asked at the moment of the request; its answers are never cached. */
export interface OptionsVenue {
  /** Null where the venue has no option of that name. @throws Refusal venue_unreachable, busy; UnreadableAnswer, ErrorAnswer */
  instrument(name: string, now: number, of?: NameOf): Promise<OptionInstrument | null>;
  /** Null where the venue has no quote of it any more. @throws as instrument does */
  ticker(name: string, of?: NameOf): Promise<OptionTicker | null>;
}

/** Where a name comes from: a request, or a stored row, whose name was on the venue's list when the row was opened. */
export type NameOf = 'request' | 'row';

export interface VenueOptions {
  /** Base URL; `/public/<method>` follows. */
  url: string;
  timeoutMs?: number;
  /** Longest wait for the venue's own rate limit. */
  waitMs?: number;
  /**
   * Requests a second for all policies together; the venue takes 5 a second of an address, and 25 at once. They are
   * sent in the order in which they came, and each policy has at most one waiting, so each gets its share.
   */
  perSecond?: number;
  burst?: number;
}

const MAX_BYTES = 256 * 1024;
/** The pause after a rate limit of the venue that does not say how long to wait. */
const REST_MS = 1_000;
const PARAMS = -32602;
/**
 * The venue's error codes that mean it has no such instrument. A malformed name in a request may be answered as an
 * invalid parameter; for a row's name, which was valid once, that code says nothing of the instrument.
 */
const HAS_NONE: Record<NameOf, readonly number[]> = {
  request: [INSTRUMENT_NOT_FOUND, NOT_LIVE, PARAMS],
  row: [INSTRUMENT_NOT_FOUND, NOT_LIVE],
};
/**
 * Statuses of a venue that is overloaded, or of a proxy whose venue does not answer. Of the errors in their bodies only
 * one that names the venue's own lack of the instrument counts.
 */
const NO_ANSWER = [429, 502, 503, 504];
const PRINTABLE = /^[\x20-\x7e]{1,100}$/;

interface Question<T> {
  method: string;
  name: string;
  of: NameOf;
  read: (result: unknown) => T;
}

export function createOptionsVenue(options: VenueOptions): OptionsVenue {
  const { url, timeoutMs = 3_000, waitMs = 15_000, perSecond = 4, burst = 20 } = options;
  const all = createBucket(perSecond, burst);
  /** The `performance.now()` until which the venue wants no requests, from any policy. */
  let restsUntil = Number.NEGATIVE_INFINITY;

  const rest = (ms: number) => {
    restsUntil = Math.max(restsUntil, performance.now() + ms);
  };
  const noRoom = (seconds: number) =>
    new Refusal(
      'busy',
      `the options venue’s rate limit leaves no room now; try again in ${seconds} s`,
      seconds,
    );
  /** @param until the `performance.now()` until which this request waits */
  async function waitTurn(signal: AbortSignal, until: number): Promise<void> {
    const mustRest = () => restsUntil > performance.now();
    do {
      if (restsUntil > until) throw noRoom(Math.ceil((restsUntil - performance.now()) / 1000));
      if (mustRest()) await pause(restsUntil - performance.now(), signal);
      if (!(await all.take(signal))) throw noRoom(5);
      // In the meantime the answer to another request may have asked for a pause.
    } while (mustRest());
  }

  async function ask<T>(question: Question<T>): Promise<T | null> {
    const hasNone = HAS_NONE[question.of];
    try {
      const signal = AbortSignal.timeout(waitMs);
      const until = performance.now() + waitMs;
      for (let attempt = 1; ; attempt += 1) {
        await waitTurn(signal, until);
        try {
          return await once(question, hasNone);
        } catch (error) {
          if (isRateLimit(error)) rest(REST_MS);
          const isPassing = error instanceof VenueRefusal && !hasNone.includes(error.code);
          if (!(error instanceof RetryableError || isPassing) || attempt === 2) throw error;
        }
      }
    } catch (error) {
      if (error instanceof VenueRefusal && hasNone.includes(error.code)) return null;
      if (error instanceof VenueRefusal && !isRateLimit(error)) throw new ErrorAnswer(error);
      if (!isOutside(error)) throw error;
      const refusal = new Refusal(
        'venue_unreachable',
        'the options venue does not answer; nothing was stored',
      );
      refusal.cause = error;
      throw refusal;
    }
  }

  async function once<T>({ method, name, read }: Question<T>, hasNone: readonly number[]): Promise<T> {
    const { status, headers, bytes } = await fetchBounded(`${url}/public/${method}`, {
      method: 'POST',
      body: JSON.stringify({ instrument_name: name }),
      headers: { 'content-type': 'application/json' },
      timeoutMs,
      maxBytes: MAX_BYTES,
    });
    const restMs = retryAfter(headers.get('retry-after'), Date.now());
    if (status === 429 || restMs !== null) rest(restMs ?? REST_MS);
    const result = resultUnder(status, bytes, hasNone);
    try {
      return read(result);
    } catch (error) {
      throw error instanceof MalformedError ? new UnreadableAnswer(error) : error;
    }
  }

  return {
    instrument: (name, now, of = 'request') => {
      const read = (result: unknown) => {
        if (objectOf(result, 'instrument').instrument_type !== 'option')
          throw new VenueRefusal(INSTRUMENT_NOT_FOUND, 'not an option');
        return namedAs(name, readInstrument(result, now));
      };
      return ask({ method: 'get_instrument', name, of, read });
    },
    ticker: (name, of = 'request') =>
      ask({ method: 'get_ticker', name, of, read: (result) => readTicker(ofName(name, result)) }),
  };
}

/** @throws as optionsResult does; RetryableError where the status says that an error is not about the instrument */
function resultUnder(status: number, bytes: Uint8Array, hasNone: readonly number[]): unknown {
  try {
    return optionsResult({ status, bytes });
  } catch (error) {
    const isOfItself = error instanceof VenueRefusal && !isRateLimit(error) && !hasNone.includes(error.code);
    throw isOfItself && NO_ANSWER.includes(status)
      ? new RetryableError(`answered ${status}`, { cause: error })
      : error;
  }
}

/** Rejects an answer about another instrument, or with an underlying that cannot be shown. @throws MalformedError */
function namedAs(name: string, instrument: OptionInstrument): OptionInstrument {
  if (instrument.name !== name) throw new MalformedError('instrument.instrument_name', 'another name');
  if (!PRINTABLE.test(instrument.underlying)) throw new MalformedError('instrument.base_currency', 'no name');
  return instrument;
}

/** Not every version of the venue names the instrument of a quote; a name must be this one. @throws MalformedError */
function ofName(name: string, ticker: unknown): unknown {
  const said = objectOf(ticker, 'ticker').instrument_name;
  if (said != null && said !== name) throw new MalformedError('ticker.instrument_name', 'another name');
  return ticker;
}

function isRateLimit(error: unknown): boolean {
  return error instanceof VenueRefusal && error.code === RATE_LIMITED;
}

function isOutside(error: unknown): boolean {
  return error instanceof RetryableError || error instanceof VenueRefusal || error instanceof MalformedError;
}
