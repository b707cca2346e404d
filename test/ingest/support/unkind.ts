import http from 'node:http';
import http2 from 'node:http2';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import { CERTIFICATE, EXPIRED } from '../../support/certificate.ts';

/** What a misbehaving server does with a connection. */
export type Answers = (socket: Socket) => void;

const GRPC = { ':status': 200, 'content-type': 'application/grpc' };
const ENHANCE_YOUR_CALM = http2.constants.NGHTTP2_ENHANCE_YOUR_CALM;
const PING = Buffer.from(SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ ping: {} })).finish());
const EACH_MS = 20;

/** A message as gRPC frames it, or the beginning of one that claims to be longer. */
function framed(message: Buffer, claims = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(claims, 1);
  return Buffer.concat([head, message]);
}

/** A server of HTTP/2 that does this with each request. */
function over2(onStream: (stream: http2.ServerHttp2Stream) => void): Answers {
  const server = http2.createServer({ maxHeaderListPairs: 10_000 });
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    onStream(stream);
  });
  server.on('session', (session) => session.on('error', () => {}));
  return (socket) => server.emit('connection', socket);
}

/** Writes the bytes again and again as long as the stream is open. */
function repeated(stream: http2.ServerHttp2Stream, bytes: Buffer): void {
  const timer = setInterval(() => stream.write(bytes), EACH_MS);
  stream.on('close', () => clearInterval(timer));
}

const html = (status: number) =>
  over2((stream) => {
    stream.respond({ ':status': status, 'content-type': 'text/html' });
    stream.end('<html><body>node-7.internal is being drained</body></html>');
  });

const showing =
  (certificate: typeof CERTIFICATE): Answers =>
  (socket) => {
    const server = tls.createServer(certificate, (secure) => secure.on('error', () => {}));
    server.on('tlsClientError', () => {});
    server.emit('connection', socket);
  };

const overTls = showing(CERTIFICATE);

/** Servers that never say anything, or nothing that counts, and never end the request. */
export const SILENT: Record<string, Answers> = {
  'a connection that nobody answers': () => {},
  'a session in which no request is answered': over2(() => {}),
  'headers and then nothing': over2((stream) => stream.respond(GRPC)),
  'a stream of nothing but pings': over2((stream) => {
    stream.respond(GRPC);
    repeated(stream, framed(PING));
  }),
  'a message of 200 MB that comes byte by byte': over2((stream) => {
    stream.respond(GRPC);
    stream.write(framed(PING, 200_000_000));
    repeated(stream, Buffer.from([0]));
  }),
};

/** Servers that end the request, each with the reason that is served. */
export const ENDING: Record<string, [answers: Answers, words: RegExp]> = {
  'a connection that is closed at once': [(socket) => socket.destroy(), /is not reachable$/],
  'a message that claims to be of a gigabyte': [
    over2((stream) => {
      stream.respond(GRPC);
      stream.write(framed(PING, 1_000_000_000));
    }),
    /failed$/,
  ],
  'GOAWAY, and the stream is ended': [
    over2((stream) => {
      stream.respond(GRPC, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.write(framed(PING));
      stream.session?.goaway(0);
      stream.end();
    }),
    /ended the stream$/,
  ],
  'GOAWAY with a code': [
    over2((stream) => {
      stream.respond(GRPC);
      stream.write(framed(PING));
      stream.session?.goaway(ENHANCE_YOUR_CALM, stream.id, Buffer.from('too_many_pings'));
      stream.session?.destroy();
    }),
    /is not reachable$|failed$|limit is reached$|ended the stream$/,
  ],
  'RST_STREAM with ENHANCE_YOUR_CALM': [
    over2((stream) => {
      stream.respond(GRPC);
      stream.write(framed(PING), () => stream.close(ENHANCE_YOUR_CALM));
    }),
    /limit is reached$/,
  ],
  'RST_STREAM with INTERNAL_ERROR': [
    over2((stream) => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)),
    /failed$/,
  ],
  'headers of a megabyte': [
    over2((stream) => {
      const many = Array.from({ length: 100 }, (_, at) => [`x-${at}`, 'x'.repeat(10_000)]);
      stream.respond({ ...GRPC, ...Object.fromEntries(many) });
    }),
    /is not reachable$|failed$/,
  ],
  'a page of HTML with 502': [html(502), /is not reachable$/],
  'a page of HTML with 200': [html(200), /failed$/],
  'no Yellowstone server': [
    over2((stream) => stream.respond({ ...GRPC, 'grpc-status': '12' }, { endStream: true })),
    /failed$/,
  ],
  'a server of HTTP/1.1': [
    (socket) => http.createServer((_, reply) => reply.end('hello')).emit('connection', socket),
    /is not reachable$/,
  ],
  'TLS where none was asked for': [overTls, /is not reachable$/],
};

/** Servers that are asked for TLS, each with the reason that is served. */
export const INSECURE: Record<string, [answers: Answers, words: RegExp]> = {
  'a certificate that nobody trusts': [overTls, /certificate is not valid$/],
  'a certificate that has expired': [showing(EXPIRED), /certificate has expired$/],
  'no TLS': [over2(() => {}), /is not reachable$/],
};
