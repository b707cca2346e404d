import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { RouteReply } from '../route.ts';
import { createPooledWriter } from './buffer-pool.ts';
import { type Answer, bytesOf, type Form, lengthOf } from './forms.ts';
import { PART_BYTES, type SendLarge } from './large-answers.ts';
import { printedParts } from './printed.ts';
import { stateOf } from './request-state.ts';
import { tagOf } from './tagged-bytes.ts';

/** JSON with two spaces of indentation and a newline at its end. */
function jsonBytes(body: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(body, null, 2)}\n`);
}

const write = createPooledWriter();

export function answerOf(reply: RouteReply): Answer {
  const { status, rest, headers = {} } = reply;
  const printed = rest === undefined ? printedParts(reply.body) : null;
  if (printed !== null) return { status, ...write(printed.texts), etag: `"${printed.tag}"`, headers };
  const bytes = Buffer.isBuffer(reply.body) ? reply.body : jsonBytes(reply.body);
  if (rest === undefined) return { status, bytes, etag: `"${tagOf(bytes)}"`, headers };
  return { status, bytes, rest, etag: `"${tagOf(bytes, ...rest.map(({ tag }) => tag))}"`, headers };
}

/** Sends a stream as it comes, at once and past every buffer of ours. */
export function sendStream(ctx: Context, { status, headers }: RouteReply, body: Readable): void {
  ctx.status = status;
  ctx.set('Cache-Control', 'no-store');
  ctx.set(headers ?? {});
  ctx.body = body;
}

/** Sends the answer, and nothing can be set after it; 304 where `kept` allows it and the client has it already. */
export function send(ctx: Context, answer: Form, kept: boolean, sendLarge: SendLarge = endInPieces): void {
  const { res } = ctx;
  const isKnown = kept && answer.status === 200 && matchesEtag(ctx, answer);
  ctx.status = isKnown ? 304 : answer.status;
  const fields = fieldsOf(answer, kept, isKnown);
  for (let at = 0; at < fields.length; at += 2) res.setHeader(fields[at] as string, fields[at + 1] as string);
  if (isKnown) {
    answer.giveBack?.();
    return;
  }
  const { bytes, rest } = answer;
  stateOf(ctx).answer = answer;
  if (answer.giveBack !== undefined) res.once('close', answer.giveBack);
  if (rest === undefined) {
    ctx.body = bytes;
    return;
  }
  const length = lengthOf(answer);
  ctx.length = length;
  ctx.respond = false;
  (length > PART_BYTES ? sendLarge : endInPieces)(res, [bytes, ...bytesOf(rest)]);
}

/**
 * The same for a kept answer that is of one piece, with the header fields of every answer. It goes past Koa, which sets
 * fields one by one and looks at the body again: that costs as much as all else of a 304.
 */
export function sendKept(
  ctx: Context,
  answer: Form,
  isKnown: boolean,
  commonHeaders: readonly string[],
): void {
  const fields = [...commonHeaders, ...fieldsOf(answer, true, isKnown)];
  if (!isKnown) fields.push('Content-Length', String(answer.bytes.length));
  ctx.res.writeHead(isKnown ? 304 : answer.status, fields);
  ctx.respond = false;
  ctx.res.end(isKnown ? undefined : answer.bytes);
}

/** Header fields, names and values in turns; without a body there is no Content-Type. */
function fieldsOf(answer: Form, kept: boolean, isKnown: boolean): string[] {
  const fields = ['Cache-Control', kept ? 'no-cache' : 'no-store'];
  const { 'Content-Type': type = 'application/json; charset=utf-8', ...others } = answer.headers;
  for (const [name, value] of Object.entries(others)) fields.push(name, value);
  if (kept && answer.status === 200) fields.push('ETag', answer.etag);
  if (!isKnown) fields.push('Content-Type', type);
  return fields;
}

/** Writes all pieces at once: they are in memory anyway, and to make a stream of them costs more than to write most. */
function endInPieces(response: ServerResponse, pieces: readonly Buffer[]): void {
  response.cork();
  for (const bytes of pieces) response.write(bytes);
  response.end();
}

/** Sends an answer made on the spot: an error, or one that is for this client alone. */
export function sendJson(ctx: Context, status: number, body: unknown): void {
  send(ctx, answerOf({ status, body }), false);
}

/**
 * Whether the client has it already, in whatever form. Not Koa's `fresh`: a client that sends both a tag and
 * `Cache-Control: no-cache`, as fetch does, may have its 304.
 */
export function matchesEtag(ctx: Context, { etag }: Form): boolean {
  const ifNoneMatch = ctx.headers['if-none-match'];
  if (ifNoneMatch === undefined) return false;
  const plain = etag.replace('W/', '');
  return ifNoneMatch.split(',').some((tag) => ['*', plain, `W/${plain}`].includes(tag.trim()));
}
