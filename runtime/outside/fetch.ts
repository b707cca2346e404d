import { RetryableError } from '../errors.ts';
import { upstreamWords } from './upstream.ts';

export interface BoundedRequest {
  method?: 'GET' | 'POST';
  body?: string;
  headers?: Record<string, string>;
  timeoutMs: number;
  maxBytes: number;
  signal?: AbortSignal;
}

/** The reply is larger than it may be. */
export class ReplyTooLargeError extends RetryableError {
  override name = 'ReplyTooLargeError';
}

export interface BoundedReply {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
}

/**
 * One HTTP exchange, bounded in time and size. Redirects are not followed.
 * @throws RetryableError in our own words where nothing answers in time; ReplyTooLargeError over `maxBytes`.
 */
export async function fetchBounded(url: string, request: BoundedRequest): Promise<BoundedReply> {
  const over = limitOf(request);
  try {
    const { address, login } = withoutLogin(url);
    const headers = { ...login, ...request.headers };
    const response = await fetch(address, {
      headers,
      method: request.method ?? 'GET',
      redirect: 'manual',
      signal: over.signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    return {
      status: response.status,
      headers: response.headers,
      bytes: await readBounded(response, request.maxBytes),
    };
  } catch (error) {
    if (error instanceof RetryableError) throw error;
    throw new RetryableError(upstreamWords(error), { cause: error });
  } finally {
    over.leave();
  }
}

/**
 * A signal that aborts after `timeoutMs` or with the caller's signal, unless `leave` was called before. Not an
 * AbortSignal.timeout: that one stays for all of its time, with all that it could abort, and makes an unused error.
 */
function limitOf({ timeoutMs, signal }: BoundedRequest): { signal: AbortSignal; leave(): void } {
  const limit = new AbortController();
  const late = setTimeout(() => limit.abort(new DOMException('it took too long', 'TimeoutError')), timeoutMs);
  // The timer keeps no process from ending.
  late.unref();
  const unwanted = () => limit.abort(signal?.reason);
  if (signal?.aborted) unwanted();
  else signal?.addEventListener('abort', unwanted, { once: true });
  return {
    signal: limit.signal,
    leave: () => {
      clearTimeout(late);
      signal?.removeEventListener('abort', unwanted);
    },
  };
}

/** fetch refuses an address with a user and password in it: they are sent as a basic authorization header. */
function withoutLogin(url: string): { address: URL; login: Record<string, string> } {
  const address = new URL(url);
  if (address.username === '' && address.password === '') return { address, login: {} };
  const pair = `${decodeURIComponent(address.username)}:${decodeURIComponent(address.password)}`;
  address.username = '';
  address.password = '';
  return { address, login: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
}

async function readBounded(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new ReplyTooLargeError(`reply over ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
