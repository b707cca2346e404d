import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/** HTTP servers that misbehave, as bytes on a connection. */

const TIMEOUT_MS = 400;
export const PATIENT_MS = 20_000;

const head = (more: string, status = '200 OK') => `HTTP/1.1 ${status}\r\n${more}\r\n`;
export const whole = (body: string | Uint8Array, more = '', status?: string) =>
  Buffer.concat([
    Buffer.from(
      head(`content-length: ${body.length}\r\nconnection: close\r\n${more}\r\n`, status).slice(0, -2),
    ),
    Buffer.from(body),
  ]);
/** Answers with these bytes once a request has begun to arrive. */
export const says = (bytes: string | Uint8Array) => (socket: Socket) =>
  socket.once('data', () => socket.end(bytes));
/** Sends the first bytes, then the second again and again. */
const saysOn = (first: string, then: string, eachMs: number) => (socket: Socket) => {
  socket.once('data', () => {
    socket.write(first);
    const timer = setInterval(() => socket.write(then), eachMs);
    socket.on('close', () => clearInterval(timer));
  });
};

const CHUNKED = head('transfer-encoding: chunked\r\n');
/** 64 MB of spaces in 64 kB. */
export const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));

/** Servers from which no reply comes, with the error that is expected and the timeout of the request. */
export const NO_REPLY: Record<string, [answers: (socket: Socket) => void, words: RegExp, timeoutMs: number]> =
  {
    'nobody answers': [() => {}, /^timed out$/, TIMEOUT_MS],
    'headers and then nothing': [saysOn(CHUNKED, '', 1_000), /^timed out$/, TIMEOUT_MS],
    'headers that never end, one at a time': [
      saysOn(head('').slice(0, -2), 'x-more: 1\r\n', 50),
      /^timed out$/,
      TIMEOUT_MS,
    ],
    'headers that never end, all at once': [
      saysOn(head('').slice(0, -2), 'x-more: 1\r\n'.repeat(1_000), 1),
      /^no answer$|^connection lost$/,
      PATIENT_MS,
    ],
    'a body that comes byte by byte': [saysOn(CHUNKED, '1\r\n \r\n', 50), /^timed out$/, TIMEOUT_MS],
    'a body that never ends': [
      saysOn(CHUNKED, `1000\r\n${' '.repeat(4_096)}\r\n`, 1),
      /^reply over \d+ bytes$/,
      PATIENT_MS,
    ],
    'a body that is large once it is unpacked': [
      says(whole(BOMB, 'content-encoding: gzip\r\n')),
      /^reply over \d+ bytes$/,
      PATIENT_MS,
    ],
    'a connection that is closed at once': [(socket) => socket.destroy(), /^connection lost$/, PATIENT_MS],
    'what is no HTTP': [says('SSH-2.0-OpenSSH_9.6\r\n'), /^no HTTP answers$/, PATIENT_MS],
  };
