import { ApiError, NoAnswerError, wait } from './http.ts';

export interface Write<T> {
  /** Calls `leaves` just before it sends the request that may be stored. */
  send(leaves: () => void): Promise<T>;
  /** What is stored of it; null where nothing is. */
  find(): Promise<T | null>;
  /** How long a request that got no answer may still take to be stored, and the least wait between two look-ups. */
  settleMs: number;
}

/** Look-ups of what may be stored, before the outcome is reported as unknown. */
const LOOKS = 4;
/** Statuses that may pass soon: of a policy that is not indexed yet, and of a service that has too much to do. */
const PASSING = [404, 429, 503];
const MOST_WAIT_MS = 30_000;

/**
 * Sends a write. Where no answer came, `find` looks for what may have been stored; only if it finds nothing, the write
 * is sent once more.
 * @throws NoAnswerError where the write may be stored: a refusal of a look-up is never thrown as the write's own.
 */
export async function onceOnly<T>({ send, find, settleMs }: Write<T>): Promise<T> {
  let left = false;
  const leaves = () => {
    left = true;
  };
  let lost: NoAnswerError | null = null;
  try {
    return await send(leaves);
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    await wait(settleMs);
    // Where the write has not left, it was the sign-in that got no answer.
    if (left) lost = error;
  }
  const stored = lost === null ? null : await lookFor(find, lost, settleMs);
  if (stored !== null) return stored;
  try {
    return await send(leaves);
  } catch (error) {
    const late = lost !== null && error instanceof ApiError ? await lookFor(find, lost, settleMs) : null;
    if (late === null) throw error;
    return late;
  }
}

/** A failed look-up says nothing of the write: a caller who took its refusal for the write's would send that again. */
async function lookFor<T>(
  find: () => Promise<T | null>,
  lost: NoAnswerError,
  settleMs: number,
): Promise<T | null> {
  for (let look = 0; ; look += 1) {
    try {
      return await find();
    } catch (cause) {
      const waitMs = look + 1 < LOOKS ? waitBehind(cause, settleMs * 2 ** look) : null;
      if (waitMs === null) throw unknown(lost, cause);
      await wait(waitMs);
    }
  }
}

/** Milliseconds until the next look-up; null where another is no use, or too far off. */
function waitBehind(failure: unknown, leastMs: number): number | null {
  if (!(failure instanceof ApiError) || !PASSING.includes(failure.status)) return null;
  const asked = (failure.retryAfter ?? 0) * 1000;
  return asked > MOST_WAIT_MS ? null : Math.max(asked, leastMs);
}

function unknown(lost: NoAnswerError, cause: unknown): NoAnswerError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new NoAnswerError(`${lost.message}; it may be stored, and looking for it failed: ${why}`, { cause });
}
