import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { RouteReply } from '../route.ts';
import { PART_BYTES, type SendLarge } from './large-answers.ts';
import { type Piece, tagOf, textTagOf } from './piece.ts';
import { printedText } from './printed.ts';

/** An answer as it goes over the wire. */
export interface Answer {
  status: number;
  /** A text where it is sent as it was printed: see `keptForm`. */
  bytes: Buffer | string;
  /** Of the bytes. */
  length: number;
  /** What follows the bytes. */
  rest?: readonly Piece[];
  etag: string;
  headers: Readonly<Record<string, string>>;
}

export const lengthOf = ({ length, rest = [] }: Answer): number =>
  rest.reduce((sum, { bytes }) => sum + bytes.length, length);

/** All of it, as bytes. */
export function wholeOf({ bytes, rest }: Answer): Buffer {
  const own = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  return rest === undefined ? own : Buffer.concat([own, ...bytesOf(rest)]);
}

const bytesOf = (pieces: readonly Piece[]): Buffer[] => pieces.map(({ bytes }) => bytes);

/**
 * The answer as it is kept. What is sent once stays a text: bytes of their own for each are memory that is given back only
 * when all that is in memory is looked through, and a second of large answers is enough to have that begun.
 */
export function keptForm(answer: Answer): Answer {
  const { bytes } = answer;
  return { ...answer, bytes: ownBytes(typeof bytes === 'string' ? Buffer.from(bytes) : bytes) };
}

/** Small bytes are a piece of 64 kB that they share with whatever comes and goes: who keeps them would keep all of it. */
function ownBytes(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

/** JSON with two spaces of indentation and a newline at its end. */
function jsonBytes(body: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(body, null, 2)}\n`);
}

export function answerOf(reply: RouteReply): Answer {
  const text = printedText(reply.body);
  const { status, rest, headers = {} } = reply;
  if (text !== null && rest === undefined) {
    const length = Buffer.byteLength(text);
    return { status, bytes: text, length, etag: `"${textTagOf(text, encodingOf(text, length))}"`, headers };
  }
  const bytes = Buffer.isBuffer(reply.body) ? reply.body : jsonBytes(reply.body);
  const { length } = bytes;
  if (rest === undefined) return { status, bytes, length, etag: `"${tagOf(bytes)}"`, headers };
  return { status, bytes, length, rest, etag: `"${tagOf(bytes, ...rest.map(({ tag }) => tag))}"`, headers };
}

/** Of a text in ASCII the same bytes, and room for them is made once: for others it is made for the most that they may be. */
const encodingOf = (text: string, length: number): BufferEncoding =>
  text.length === length ? 'latin1' : 'utf8';

/** Sends a stream as it comes, at once and past every buffer of ours. */
export function sendStream(ctx: Context, { status, headers }: RouteReply, body: Readable): void {
  ctx.status = status;
  ctx.set('Cache-Control', 'no-store');
  ctx.set(headers ?? {});
  ctx.body = body;
}

/** Sends the answer, and nothing can be set after it; 304 where the client has it already and may have kept it. */
export function send(ctx: Context, answer: Answer, kept: boolean, sendLarge: SendLarge = endInPieces): void {
  ctx.status = answer.status;
  ctx.set('Cache-Control', kept ? 'no-cache' : 'no-store');
  ctx.set(answer.headers);
  if (kept && answer.status === 200) {
    ctx.set('ETag', answer.etag);
    if (hasIt(ctx, answer)) {
      ctx.status = 304;
      return;
    }
  }
  if (answer.headers['Content-Type'] === undefined) ctx.type = 'application/json; charset=utf-8';
  const { bytes, rest } = answer;
  const length = lengthOf(answer);
  ctx.length = length;
  ctx.state.answer = answer;
  if (typeof bytes !== 'string' && rest === undefined) {
    ctx.body = bytes;
    return;
  }
  ctx.respond = false;
  if (typeof bytes === 'string') ctx.res.end(bytes, encodingOf(bytes, answer.length));
  else (length > PART_BYTES ? sendLarge : endInPieces)(ctx.res, [bytes, ...bytesOf(rest ?? [])]);
}

/** All of them at once: they are kept anyway, and a stream of them would cost more than most are long. */
function endInPieces(response: ServerResponse, pieces: readonly Buffer[]): void {
  response.cork();
  for (const bytes of pieces) response.write(bytes);
  response.end();
}

/** Sends an answer made on the spot: an error, or one that is nobody else's. */
export function sendJson(ctx: Context, status: number, body: unknown): void {
  send(ctx, answerOf({ status, body }), false);
}

/**
 * Whether the client has it already, in whatever form. Not Koa's `fresh`: a client that sends both a tag and
 * `Cache-Control: no-cache`, as fetch does, may have its 304.
 */
export function hasIt(ctx: Context, { etag }: Answer): boolean {
  const ifNoneMatch = ctx.get('If-None-Match');
  if (ifNoneMatch === '') return false;
  const plain = etag.replace('W/', '');
  return ifNoneMatch.split(',').some((tag) => ['*', plain, `W/${plain}`].includes(tag.trim()));
}
