import { messageOf } from '../errors.ts';
import { fetchBounded } from '../outside/fetch.ts';
import { CONNECTION_LOST } from '../outside/upstream.ts';
import { RpcError } from './error.ts';

/** One address of SOLANA_RPC_URL; a pool of nodes may be behind it. */
export interface RpcNode {
  /** One exchange. @throws RpcError */
  ask(method: string, params: readonly unknown[], maxBytes: number): Promise<unknown>;
  /** Milliseconds for which it wants to be left alone. */
  waitMs(): number;
}

const MOST_MESSAGE = 500;
/** Where it does not say for how long. */
const UNSAID_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10 * 60_000;
/** Shorter parts of an address are words, not keys. */
const SHORTEST_SECRET = 8;
/** -32016: before minContextSlot. -32004, -32014: it has not seen the slot yet. -32005: it says itself that it lags. */
const BEHIND = new Set([-32016, -32004, -32014, -32005]);

/** @param url its credentials, path and query never show in an error. */
export function createRpcNode(url: string, timeoutMs: number): RpcNode {
  const hide = hiding(url);
  let id = 0;
  let busyUntil = 0;

  const exchange = async (method: string, params: readonly unknown[], maxBytes: number) => {
    id += 1;
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const headers = { 'content-type': 'application/json' };
    try {
      return await fetchBounded(url, { method: 'POST', body, headers, timeoutMs, maxBytes });
    } catch (cause) {
      const words = messageOf(cause);
      // A connection that was kept may be closed just as it is used again: reading twice harms nothing.
      const again = words === CONNECTION_LOST ? 'now' : 'elsewhere';
      throw new RpcError('unreachable', hide(`${method}: ${words}`), { again, cause });
    }
  };

  return {
    waitMs: () => Math.max(0, busyUntil - performance.now()),
    ask: async (method, params, maxBytes) => {
      const { status, headers, bytes } = await exchange(method, params, maxBytes);
      const wait = waitAsked(status, headers.get('retry-after'), Date.now());
      if (wait !== null) busyUntil = Math.max(busyUntil, performance.now() + wait);
      if (status === 429 || wait !== null)
        throw new RpcError('unreachable', `${method}: HTTP ${status}, asks to wait ${wait} ms`);
      const reply = replyOf(method, status, bytes);
      if (!('error' in reply)) return reply.result;
      const { code, message } = reply.error;
      throw new RpcError(
        BEHIND.has(code as number) ? 'behind' : 'refused',
        hide(`${method}: ${String(message).slice(0, MOST_MESSAGE)}`),
        { code: typeof code === 'number' ? code : null },
      );
    },
  };
}

/** Milliseconds to wait before the next request to this node; null where it does not ask for any. */
export function waitAsked(status: number, retryAfter: string | null, now: number): number | null {
  if (status !== 429 && status !== 503) return null;
  if (retryAfter === null) return status === 429 ? UNSAID_WAIT_MS : null;
  const wait = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Number.isFinite(wait) ? Math.min(Math.max(wait, 0), LONGEST_WAIT_MS) : UNSAID_WAIT_MS;
}

type RpcReply = { result: unknown } | { error: { code?: unknown; message?: unknown } };

/** A reply with an error of its own counts whatever its status; a gateway's page or a plain text does not. */
function replyOf(method: string, status: number, bytes: Uint8Array): RpcReply {
  const unsound = (what: string) =>
    new RpcError('unreachable', `${method}: ${what}`, { again: status === 200 ? 'now' : 'elsewhere' });
  let reply: unknown;
  try {
    reply = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw unsound(`HTTP ${status} without JSON`);
  }
  const fields = (typeof reply === 'object' && reply !== null ? reply : {}) as Record<string, unknown>;
  const { result, error } = fields;
  if (typeof error === 'object' && error !== null) return { error };
  if (status !== 200 || result === undefined) throw unsound(`HTTP ${status} without a JSON-RPC reply`);
  return { result };
}

/** Takes out of a text what of the address may be a key: a node may repeat it in its own words. */
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
