import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from './free-port.ts';

/** A request that a test's server received. */
export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: http.IncomingHttpHeaders;
  /** The JSON of the body; null where there is none. */
  body: unknown;
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** Bytes and strings are sent as they are, anything else as JSON. */
  body?: unknown;
}

export interface AnsweringServer {
  url: string;
  asked: Asked[];
  close(): Promise<void>;
}

/** A server on a free port of this machine; a request for which `answer` returns null is never answered. */
export async function serveAnswers(answer: (asked: Asked) => Answer | null): Promise<AnsweringServer> {
  const asked: Asked[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const url = new URL(request.url ?? '/', 'http://here');
    const one: Asked = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: text === '' ? null : JSON.parse(text),
    };
    asked.push(one);
    const reply = answer(one);
    if (reply === null) return;
    const { status = 200, headers = {}, body = '' } = reply;
    const raw =
      typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(asAsked(one, body));
    response.writeHead(status, headers).end(raw);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Gives a JSON-RPC answer the `id` of its request. */
function asAsked({ body: request }: Asked, answer: unknown): unknown {
  const { jsonrpc, id } = (request ?? {}) as { jsonrpc?: unknown; id?: unknown };
  const isOne = jsonrpc !== undefined && typeof answer === 'object' && answer !== null && 'id' in answer;
  return isOne ? { ...answer, id } : answer;
}

/** An address of this machine where nothing listens, nor will by chance: systems never choose these ports. */
export async function deadUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}
