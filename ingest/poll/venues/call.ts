import { redactedBytes } from '../../../runtime/config/secrets.ts';
import { RetryableError } from '../../../runtime/errors.ts';
import { upstreamWords } from '../../../runtime/outside/upstream.ts';
import { askVenue, type VenueReply, type VenueRequest } from '../../../runtime/outside/venue-call.ts';
import { MalformedError } from '../../../schemas/malformed.ts';
import type { DeadLetterRecord } from '../../../schemas/records.ts';
import { jsonOf } from '../../../schemas/venues/decimal.ts';

/** Why a poll brought nothing, with the dead letter for bytes that could not be read as a reply. */
export interface PollFailure {
  error: string;
  letter: DeadLetterRecord | null;
  retryAfterMs: number | null;
  /** The HTTP status; null where nothing answered. */
  status: number | null;
}

export type Polled<T> = { value: T } | PollFailure;

export interface VenueCall extends VenueRequest {
  /** What the reading is of: `reading:perp`, and where: an address or mint. */
  what: string;
  where: string;
  signal: AbortSignal;
}

/** Asks a venue and reads the JSON of a reply with status 200; never throws for what comes from outside. */
export async function poll<T>(call: VenueCall, read: (reply: unknown) => T): Promise<Polled<T>> {
  return pollReply(call, (reply) => read(soundJson(reply, call.what)));
}

/** The JSON of a reply with status 200. @throws RetryableError, MalformedError */
export function soundJson({ status, bytes }: VenueReply, what: string): unknown {
  if (status !== 200) throw new RetryableError(`answered ${status}`);
  return jsonOf(bytes, what);
}

/** Like `poll`, for a venue whose replies are judged by more than their status. */
export async function pollReply<T>(call: VenueCall, read: (reply: VenueReply) => T): Promise<Polled<T>> {
  let reply: VenueReply | null = null;
  try {
    reply = await askVenue(call);
    return { value: read(reply) };
  } catch (error) {
    const reason = upstreamWords(error);
    return {
      error: reason,
      letter:
        error instanceof MalformedError
          ? deadLetterOf(call, reason, reply?.bytes ?? new Uint8Array(0))
          : null,
      retryAfterMs: reply?.retryAfterMs ?? null,
      status: reply?.status ?? null,
    };
  }
}

export function deadLetterOf(
  { what, where }: Pick<VenueCall, 'what' | 'where'>,
  reason: string,
  bytes: Uint8Array,
): DeadLetterRecord {
  return {
    kind: 'dead-letter',
    source: 'poll',
    what,
    where,
    reason,
    slot: null,
    bytes: redactedBytes(bytes),
  };
}

const MOST_SHOWN_ROWS = 100;

/** The dead letter of a list's rows that cannot be read. @param reason default: that they were left out */
export function letterOfRows(
  call: Pick<VenueCall, 'what' | 'where'>,
  bad: readonly { row: unknown; reason: string }[],
  reason = `${bad.length} rows left out, the first for: ${bad[0]?.reason}`,
): DeadLetterRecord {
  const rows = bad.slice(0, MOST_SHOWN_ROWS).map(({ row }) => shownRow(row));
  return deadLetterOf(call, reason, Buffer.from(`[${rows}]`));
}

/** The row as JSON; one nested too deeply for that is beyond mending anyway. */
function shownRow(row: unknown): string {
  try {
    return JSON.stringify(row);
  } catch {
    return '"nested too deeply"';
  }
}
