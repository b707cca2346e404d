import { type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { METHOD_NOT_ALLOWED, METHODS } from './methods.ts';
import type { OneAtATime } from './turns/one-at-a-time.ts';

/** Answers to what Node's parser gives up on, by its codes; to anything else it is a 400. */
const REFUSALS: Readonly<Record<string, { status: number; error: string }>> = {
  HPE_INVALID_METHOD: { status: 405, error: METHOD_NOT_ALLOWED },
  HPE_HEADER_OVERFLOW: { status: 431, error: 'the head of the request is too large' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, error: 'the chunks of the body are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, error: 'the request did not come in time' },
};
const MALFORMED = { status: 400, error: 'this is no HTTP request' };

/** Most bytes of what is no HTTP that are dropped while earlier requests are answered. */
const MOST_DROPPED = 256 * 1024;

/** A word that a request may begin with; other protocols do not begin with one. */
const METHOD = /^[!#$%&'*+.^_`|~\w-]+ /;

interface ParserError extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
  /** Bytes of the packet before what is no HTTP: it may begin with other requests. */
  bytesParsed?: number;
}

const NO_EXPECTATION = { status: 417, error: 'nothing but 100-continue may be expected of this API' };

/**
 * Answers what never becomes a request for the application: CONNECT, methods that no parser knows, malformed heads.
 * What was asked before on the connection is answered first: otherwise its client would take the refusal for that
 * answer, or find it in the middle of it.
 */
export function answerUnparsed(server: Server, { end }: Pick<OneAtATime, 'end'>): void {
  const dropped = new WeakMap<Duplex, number>();
  const last = (socket: Duplex, refusal: typeof MALFORMED) => end(socket, () => refuse(socket, refusal));
  server.on('checkExpectation', ({ socket }) => last(socket, NO_EXPECTATION));
  server.on('connect', (_request, socket) => last(socket, REFUSALS.HPE_INVALID_METHOD as typeof MALFORMED));
  server.on('clientError', (error: ParserError, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const all = (dropped.get(socket) ?? 0) + (error.rawPacket?.length ?? 0);
    dropped.set(socket, all);
    if (all > MOST_DROPPED) return void socket.destroy();
    const isMethod =
      error.code !== 'HPE_INVALID_METHOD' ||
      METHOD.test(String(error.rawPacket?.subarray(error.bytesParsed)));
    last(socket, (isMethod && REFUSALS[error.code ?? '']) || MALFORMED);
  });
}

/** Refuses a request of HTTP/1.1 without a Host, and any with two: of two names a proxy may take the other. */
export function namingHost(answer: RequestListener): RequestListener {
  return (request, response) => {
    const hosts = hostsNamed(request.rawHeaders);
    if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) refuse(request.socket, MALFORMED);
    else answer(request, response);
  };
}

/** How many Host fields there are among names and values in turns. Node itself keeps the first alone. */
const hostsNamed = (raw: readonly string[]): number =>
  raw.filter((name, at) => at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host').length;

function refuse(socket: Duplex, { status, error }: typeof MALFORMED): void {
  // A client that breaks the connection off meanwhile ends nothing but this connection.
  socket.on('error', () => socket.destroy());
  const body = `${JSON.stringify({ error }, null, 2)}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Access-Control-Allow-Origin: *',
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    ...(status === 405 ? [`Allow: ${METHODS}`] : []),
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
