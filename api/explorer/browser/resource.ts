import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** What is known of an answer; `old` is one that could not be renewed. */
export interface Resource<T> {
  /** What was asked for; null where nothing is. */
  path: string | null;
  state: 'loading' | 'ready' | 'old' | 'failed';
  data: T | null;
  /** Why the last attempt failed. */
  failure: string | null;
  /** When the answer that is shown arrived here, unix milliseconds. */
  at: number | null;
  /** What time it was then by the server's clock, unix milliseconds. */
  there: number | null;
  /** The status of a refusal. */
  status: number | null;
  /** To be called when there may be something new: asks at once, or once its rest after a failure is over. */
  again(): void;
  /** Asks at once, also while it rests after a failure. */
  askNow(): void;
}

type Known<T> = Omit<Resource<T>, 'again' | 'askNow' | 'path'>;

const NOTHING = { state: 'loading', data: null, failure: null, at: null, there: null, status: null } as const;
const TIMEOUT_MS = 15_000;
const RETRY_MS = 3_000;
/** The wait after a refusal of a resource that is not polled; one that is polled keeps to its interval. */
const SELDOM_MS = 15_000;
/** The longest wait, whatever `Retry-After` says. */
const LONGEST_MS = 3_600_000;

class Refused extends Error {
  readonly status: number;
  /** For how long the server wants no further request; null where it does not say. */
  readonly restMs: number | null;
  constructor({ status, headers }: Response, message: string) {
    super(message);
    this.status = status;
    const rest = Number(headers.get('Retry-After') ?? Number.NaN) * 1000;
    this.restMs = Number.isNaN(rest) ? null : rest;
  }
}

/** How far the clock of the server is ahead of this one, by its newest answer. */
let aheadMs = 0;
/** What time it is by the clock of the server, unix milliseconds. */
export const nowThere = (): number => Date.now() + aheadMs;

/** @throws Error with a sentence for people. */
export const getJson = async <T>(path: string): Promise<T> => (await asked<T>(path)).data;

async function asked<T>(path: string): Promise<{ data: T; there: number }> {
  const answer = await fetch(path, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: unknown) => {
    throw failureOf(error, 'the API cannot be reached');
  });
  if (answer.ok) {
    // The time limit covers the body too, and a proxy in between may cut the body off or send its own.
    const data = await answer.json().catch((error: unknown) => {
      throw failureOf(error, 'the API’s answer broke off');
    });
    const there = Date.parse(answer.headers.get('Date') ?? '') || Date.now();
    aheadMs = there - Date.now();
    return { data: data as T, there };
  }
  const body = await answer.json().catch(() => null);
  const { error, detail } = (body ?? {}) as { error?: string; detail?: string };
  throw new Refused(answer, detail ?? error ?? `the API answered ${answer.status}`);
}

function failureOf(error: unknown, otherwise: string): Error {
  const slow = error instanceof DOMException && error.name === 'TimeoutError';
  return new Error(slow ? `the API did not answer within ${TIMEOUT_MS / 1000} seconds` : otherwise);
}

/** How long after a failure to ask again; null where the query itself is wrong. */
export function waitAfter(error: Error, everyMs: number | null): number | null {
  if (!(error instanceof Refused)) return RETRY_MS;
  const { status, restMs } = error;
  if (status === 400) return null;
  // What is missing now (404) may come, and a client refused for asking too often (429) may ask again later.
  const usual = status >= 500 ? RETRY_MS : (everyMs ?? SELDOM_MS);
  return Math.min(LONGEST_MS, Math.max(RETRY_MS, restMs ?? usual));
}

/** The one request under way: with several, on a slow line of a busy policy, no answer would be that of the newest. */
interface Question {
  /** Whether to ask once more after this one. */
  isAnotherWanted: boolean;
}

/**
 * The answer of a path, asked again every `everyMs` while the tab is visible, and after any failure but that of a query
 * that is wrong itself. A path of null is not asked for.
 */
export function useResource<T>(path: string | null, everyMs: number | null = null): Resource<T> {
  const [known, setKnown] = useState<Known<T> & { path: string | null }>({ ...NOTHING, path });
  const [round, setRound] = useState(0);
  const underWay = useRef<Question | null>(null);
  /** Until when it rests after a failure, unix milliseconds. */
  const restsUntil = useRef(0);
  const current: Known<T> = known.path === path ? known : NOTHING;

  // A new round asks again.
  useEffect(() => {
    if (path === null) return;
    const question: Question = { isAnotherWanted: false };
    underWay.current = question;
    restsUntil.current = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = (ms: number) => {
      timer = setTimeout(() => {
        if (document.visibilityState === 'visible') setRound((value) => value + 1);
        else later(1_000);
      }, ms);
    };
    asked<T>(path).then(
      ({ data, there }) => {
        if (underWay.current !== question) return;
        underWay.current = null;
        setKnown({ path, state: 'ready', data, failure: null, at: Date.now(), there, status: 200 });
        if (question.isAnotherWanted) setRound((value) => value + 1);
        else if (everyMs !== null) later(everyMs);
      },
      (error: Error) => {
        if (underWay.current !== question) return;
        underWay.current = null;
        const status = error instanceof Refused ? error.status : null;
        setKnown((before) => {
          const { data, at, there } = before.path === path ? before : NOTHING;
          const state = data === null ? 'failed' : 'old';
          return { path, state, data, at, there, failure: error.message, status };
        });
        const wait = waitAfter(error, everyMs);
        restsUntil.current = Date.now() + (wait ?? Number.POSITIVE_INFINITY);
        if (wait !== null) later(wait);
      },
    );
    return () => {
      clearTimeout(timer);
      underWay.current = null;
    };
  }, [path, everyMs, round]);

  const askNow = useCallback(() => {
    if (underWay.current === null) setRound((value) => value + 1);
    else underWay.current.isAnotherWanted = true;
  }, []);
  const again = useCallback(() => {
    if (Date.now() >= restsUntil.current) askNow();
  }, [askNow]);
  return { ...current, path, again, askNow };
}

/** Seconds from a time of the chain to the answer, by the server's clock; up to now where the answer is old. */
export function secondsBehind({ state, at, there }: Resource<unknown>, iso: string, now: number): number {
  const since = state === 'old' && at !== null ? now - at : 0;
  return Math.max(0, Math.round(((there ?? now) + since - Date.parse(iso)) / 1000));
}
