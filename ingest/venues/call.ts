import { messageOf } from '../../runtime/errors.ts';
import { fetchBounded } from '../../runtime/fetch.ts';
import { encodeBase58 } from '../../schemas/base58.ts';
import { MalformedError } from '../../schemas/malformed.ts';
import type { DeadLetterRecord } from '../../schemas/records.ts';
import { jsonOf } from '../../schemas/venues/decimal.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** What a poll of a venue brought: a value, or why there is none, with the letter for bytes that were no reply. */
export type Polled<T> =
  | { value: T }
  | { error: string; letter: DeadLetterRecord | null; retryAfterMs: number | null };

export interface VenueCall {
  url: string;
  /** JSON body of a POST; left out for a GET. */
  body?: unknown;
  /** What the reading is of: `reading:perp`, and where: an address or mint. */
  what: string;
  where: string;
  /** The venue tells errors in the body, whatever the status: the body is read all the same. */
  errorsInBody?: boolean;
  signal: AbortSignal;
}

/** Asks a venue and reads its reply; never throws for what comes from outside. */
export async function poll<T>(call: VenueCall, read: (reply: unknown) => T): Promise<Polled<T>> {
  let bytes: Uint8Array = new Uint8Array(0);
  try {
    const reply = await fetchBounded(call.url, {
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      signal: call.signal,
      ...(call.body === undefined
        ? {}
        : {
            method: 'POST',
            body: JSON.stringify(call.body),
            headers: { 'content-type': 'application/json' },
          }),
    });
    bytes = reply.bytes;
    if (reply.status === 429 || reply.status >= 500) {
      const seconds = Number(reply.headers.get('retry-after'));
      const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 600) * 1000 : null;
      return { error: `answered HTTP ${reply.status}`, letter: null, retryAfterMs };
    }
    if (reply.status >= 300 && !(reply.status >= 400 && call.errorsInBody === true)) {
      return { error: `answered HTTP ${reply.status}`, letter: null, retryAfterMs: null };
    }
    return { value: read(jsonOf(bytes, call.what)) };
  } catch (error) {
    const reason = messageOf(error);
    return {
      error: reason,
      letter: error instanceof MalformedError ? letterOf(call, reason, bytes) : null,
      retryAfterMs: null,
    };
  }
}

function letterOf({ what, where }: VenueCall, reason: string, bytes: Uint8Array): DeadLetterRecord {
  return { kind: 'dead-letter', source: 'poll', what, where, reason, slot: null, bytes };
}

/** An address of 32 zero bytes: where a letter is about no account. */
export const NOWHERE = encodeBase58(new Uint8Array(32));
