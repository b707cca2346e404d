import { messageOf } from '../errors.ts';
import { fetchBounded } from '../outside/fetch.ts';
import { CONNECTION_LOST } from '../outside/upstream.ts';
import { INVALID_PARAMS, RpcError, VERSION_NOT_TAKEN } from './error.ts';
import type { NodeWaits } from './port.ts';

/** One address of SOLANA_RPC_URL; a pool of nodes may be behind it. */
export interface RpcNode {
  /** One exchange, within the node's own time limit unless `timeoutMs` is given. @throws RpcError */
  ask(method: string, params: readonly unknown[], maxBytes: number, timeoutMs?: number): Promise<unknown>;
  /** Milliseconds for which it wants to be left alone. */
  waitMs(): number;
}

const MOST_MESSAGE = 500;
/** How long a node is left alone that does not say for how long. */
const UNSAID_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10 * 60_000;
/** Shorter parts of an address are words, not keys. */
const SHORTEST_SECRET = 8;
/** -32016: before minContextSlot. -32004, -32014: it has not seen the slot yet. -32005: it says itself that it lags. */
const BEHIND = new Set([-32016, -32004, -32014, -32005]);
/**
 * About the question itself, or about the chain, so the same on every node: invalid params, a version, a skipped slot.
 * Not -32600, invalid request: ours are valid, and providers send it for a key or a method that they do not serve.
 */
const SAME_ELSEWHERE = new Set([INVALID_PARAMS, VERSION_NOT_TAKEN, -32007, -32009, -32013]);
/** HTTP statuses about the client, whatever the code: a key, what is paid for, an address that is not on a list. */
const OF_WHO_ASKS = new Set([401, 402, 403]);
/** Codes for too many requests, sent under another status than 429. */
const LIMITED_CODES = new Set([429, -32429]);
const LIMITED_WORDS =
  /rate.?limit|request limit|too many (?:\w+ )?requests|concurren|throttl|\brps\b|\busage\b|quota|credits?\b|per (?:second|minute|day|month)/i;
const TOO_LARGE = 413;

/** @param url its credentials, path and query never show in an error. */
export function createRpcNode(url: string, limitMs: number, waits: NodeWaits = new Map()): RpcNode {
  const hide = hiding(url);
  let id = 0;
  const leaveAlone = (millis: number) =>
    waits.set(url, Math.max(waits.get(url) ?? 0, performance.now() + millis));

  const exchange = async (
    method: string,
    params: readonly unknown[],
    { asked, maxBytes, timeoutMs }: { asked: number; maxBytes: number; timeoutMs: number },
  ) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: asked, method, params });
    const headers = { 'content-type': 'application/json' };
    try {
      return await fetchBounded(url, { method: 'POST', body, headers, timeoutMs, maxBytes });
    } catch (cause) {
      const words = messageOf(cause);
      // A connection that was kept open may be closed just as it is used again. To ask again is harmless: all requests
      // read.
      const retryOn = words === CONNECTION_LOST ? 'anyNode' : 'anotherNode';
      throw new RpcError('unreachable', hide(`${method}: ${words}`), { retryOn, cause });
    }
  };

  const refusal = (words: string, given: unknown, status: number): RpcError => {
    const code = typeof given === 'number' ? given : null;
    // Before all else: a provider may report a rate limit under any code, even that of a node that lags.
    if (LIMITED_CODES.has(code ?? 0) || LIMITED_WORDS.test(words)) {
      leaveAlone(UNSAID_WAIT_MS);
      return new RpcError('unreachable', words, { code });
    }
    if (BEHIND.has(code ?? 0)) return new RpcError('behind', words, { code });
    // What one node does not keep, index or offer, or not to us, another may.
    const isOwn = code === null || !SAME_ELSEWHERE.has(code) || OF_WHO_ASKS.has(status);
    const retryOn = isOwn ? 'anotherNode' : 'none';
    return new RpcError('refused', words, { code, retryOn });
  };

  return {
    waitMs: () => Math.max(0, (waits.get(url) ?? 0) - performance.now()),
    ask: async (method, params, maxBytes, timeoutMs = limitMs) => {
      id += 1;
      const asked = id;
      const { status, headers, bytes } = await exchange(method, params, { asked, maxBytes, timeoutMs });
      const wait = requestedWaitMs(status, headers.get('retry-after'), Date.now());
      if (wait !== null) leaveAlone(wait);
      if (status === 429 || wait !== null)
        throw new RpcError('unreachable', `${method}: HTTP ${status}, asks to wait ${wait} ms`);
      const reply = replyOf(method, asked, { status, bytes });
      if (!('error' in reply)) return reply.result;
      throw refusal(
        hide(`${method}: ${String(reply.error.message).slice(0, MOST_MESSAGE)}`),
        reply.error.code,
        status,
      );
    },
  };
}

/** Milliseconds to wait before the next request to this node; null where it does not ask for any. */
export function requestedWaitMs(status: number, retryAfter: string | null, now: number): number | null {
  if (status !== 429 && status !== 503) return null;
  if (retryAfter === null) return status === 429 ? UNSAID_WAIT_MS : null;
  const wait = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Number.isFinite(wait) ? Math.min(Math.max(wait, 0), LONGEST_WAIT_MS) : UNSAID_WAIT_MS;
}

type RpcReply = { result: unknown } | { error: { code?: unknown; message?: unknown } };

/** A reply with an error of its own counts whatever its status; a gateway's page or a plain text does not. */
function replyOf(
  method: string,
  asked: number,
  { status, bytes }: { status: number; bytes: Uint8Array },
): RpcReply {
  const unsound = (what: string) =>
    new RpcError('unreachable', `${method}: ${what}`, {
      retryOn: status === 200 ? 'anyNode' : 'anotherNode',
    });
  if (status === TOO_LARGE)
    throw new RpcError('refused', `${method}: HTTP 413, too large`, { retryOn: 'anotherNode' });
  let reply: unknown;
  try {
    reply = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw unsound(`HTTP ${status} without JSON`);
  }
  const fields = (typeof reply === 'object' && reply !== null ? reply : {}) as Record<string, unknown>;
  const { id = null, result, error } = fields;
  // Connections or caches on the way may be mixed up: this answers something else.
  if (id !== null && String(id) !== String(asked)) throw unsound('an answer to another request');
  if (typeof error === 'object' && error !== null) return { error };
  if (status !== 200 || result === undefined) throw unsound(`HTTP ${status} without a JSON-RPC reply`);
  return { result };
}

/** Takes out of a text the parts of the address that may be keys: a node may repeat them in its own words. */
function hiding(url: string): (text: string) => string {
  const { username, password, pathname, searchParams } = new URL(url);
  const parts = [...pathname.split('/'), ...searchParams.values()].filter(
    ({ length }) => length >= SHORTEST_SECRET,
  );
  const given = [username, password, ...parts].filter((part) => part !== '');
  const secrets = new Set([...given, ...given.map(decoded)]);
  return (text) => [...secrets].reduce((left, secret) => left.replaceAll(secret, '…'), text);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
