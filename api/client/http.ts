/** The service answered with an error. For a refusal of an agent route `code` says which, and nothing was stored. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  readonly code: string | null;
  /** Seconds after which the same request may be accepted, where the service says so. */
  readonly retryAfter: number | null;

  constructor(status: number, code: string | null, message: string, retryAfter: number | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** No answer came, or none that says what happened: a write may or may not have been stored. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
}

export interface HttpOptions {
  /** The service's base URL. */
  url: string;
  fetch?: typeof globalThis.fetch;
  timeoutMs?: number;
  /** Wait before a retry; doubled for each further one. */
  retryMs?: number;
}

export interface Exchange {
  method: 'GET' | 'POST';
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  token?: string;
}

export interface Answered<Answer> {
  answer: Answer;
  /** The `Link` header. */
  link: string | null;
}

/** One exchange. @throws ApiError, NoAnswerError */
export type SendRequest = <Answer>(exchange: Exchange) => Promise<Answered<Answer>>;

const READ_RETRIES = 2;
const ANSWER_MAX = 64 * 1024 * 1024;

export const wait = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis));

/** Makes a sender of requests: reads are retried where no answer came, writes never are here. */
export function createSender(options: HttpOptions): SendRequest {
  const { fetch = globalThis.fetch, timeoutMs = 60_000, retryMs = 250 } = options;
  const base = options.url.replace(/\/+$/, '');

  async function once<Answer>(exchange: Exchange): Promise<Answered<Answer>> {
    const { method, path, query = {}, body, token } = exchange;
    const url = new URL(base + path);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    let response: Response;
    let text: string;
    try {
      response = await fetch(url, {
        method,
        // A redirect could carry the token to somebody else.
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      text = await readBounded(response);
    } catch (cause) {
      throw new NoAnswerError(`${method} ${path}: no answer`, { cause });
    }
    const answer = answerOf(`${method} ${path}`, response, text) as Answer;
    return { answer, link: response.headers.get('link') };
  }

  return async <Answer>(exchange: Exchange): Promise<Answered<Answer>> => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await once<Answer>(exchange);
      } catch (error) {
        const again = exchange.method === 'GET' && error instanceof NoAnswerError;
        if (!again || attempt >= READ_RETRIES) throw error;
        await wait(retryMs * 2 ** attempt);
      }
    }
  };
}

/**
 * The text of an answer, bounded in decompressed bytes: an endless answer or a small one that unpacks to a huge one.
 */
async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > ANSWER_MAX) throw new RangeError(`an answer of more than ${ANSWER_MAX} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Whether a status tells if a write was stored: a proxy's error and an internal failure do not. */
const saysWhatHappened = (status: number) => status < 500 || status === 503;

function answerOf(what: string, response: Response, text: string): unknown {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    answer = undefined;
  }
  // Every route answers an object.
  if (response.ok && typeof answer === 'object' && answer !== null) return answer;
  const { error, code } = (answer ?? {}) as { error?: unknown; code?: unknown };
  if (typeof error !== 'string' || !saysWhatHappened(response.status))
    throw new NoAnswerError(
      `${what}: HTTP ${response.status} ${typeof error === 'string' ? error : ''}`.trim(),
    );
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  throw new ApiError(
    response.status,
    typeof code === 'string' ? code : null,
    error,
    Number.isFinite(seconds) ? seconds : null,
  );
}
