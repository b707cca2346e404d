import { MalformedError } from '../../schemas/malformed.ts';
import { jsonOf } from '../../schemas/venues/decimal.ts';
import { resultOf } from '../../schemas/venues/options.ts';
import { RetryableError } from '../errors.ts';
import { fetchBounded } from './fetch.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
const LONGEST_REST_MS = 600_000;

export interface VenueRequest {
  url: string;
  /** JSON body of a POST; left out for a GET. */
  body?: unknown;
  timeoutMs?: number;
  /** Bound of the reply. */
  maxBytes?: number;
  signal?: AbortSignal;
}

export interface VenueReply {
  status: number;
  bytes: Uint8Array;
  /** How long the venue wants to be left alone; null where it did not say. */
  retryAfterMs: number | null;
}

/** One bounded exchange with a venue, whatever the status. @throws RetryableError where no whole reply comes in time */
export async function askVenue({
  url,
  body,
  timeoutMs,
  maxBytes,
  signal,
}: VenueRequest): Promise<VenueReply> {
  const { status, headers, bytes } = await fetchBounded(url, {
    timeoutMs: timeoutMs ?? TIMEOUT_MS,
    maxBytes: maxBytes ?? MAX_BYTES,
    ...(signal === undefined ? {} : { signal }),
    ...(body === undefined
      ? {}
      : { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return { status, bytes, retryAfterMs: retryAfter(headers.get('retry-after'), Date.now()) };
}

/** A Retry-After header, in seconds or as a date, as milliseconds from now; never longer than ten minutes. */
export function retryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  const millis = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(millis) && millis > 0 ? Math.min(millis, LONGEST_REST_MS) : null;
}

export type OptionsMethod = 'get_instrument' | 'get_ticker' | 'get_all_currencies';

/**
 * The result of a public method of the options venue, not yet read. The venue reports errors in the body, whatever
 * the HTTP status.
 * @throws VenueRefusal for the venue's own error; MalformedError for a malformed reply; RetryableError where it does
 * not answer, or answers an HTTP error without a body of its own form.
 */
export async function askOptionsVenue(
  base: string,
  method: OptionsMethod,
  params: Record<string, unknown>,
  limits: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<unknown> {
  const reply = await askVenue({ ...limits, url: `${base}/public/${method}`, body: params });
  return optionsResult(reply);
}

/** The result in a reply of the options venue. @throws as askOptionsVenue does */
export function optionsResult({ status, bytes }: Pick<VenueReply, 'status' | 'bytes'>): unknown {
  try {
    return resultOf(jsonOf(bytes, 'reply'));
  } catch (error) {
    // A proxy in front of the venue answers errors in a form of its own.
    if (status >= 300 && error instanceof MalformedError)
      throw new RetryableError(`answered ${status}`, { cause: error });
    throw error;
  }
}
