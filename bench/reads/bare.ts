import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';

/** Baseline of these bytes on this machine: a Koa route that sends the files in turn, or 304 where the ETag matches. */
const answers = process.argv.slice(2).map((file) => {
  const body = readFileSync(file);
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
});
let asked = 0;
const app = new Koa();
app.use((ctx) => {
  const { body, etag } = answers[asked % answers.length] as (typeof answers)[number];
  asked += 1;
  ctx.set('ETag', etag);
  if (ctx.get('If-None-Match') === etag) {
    ctx.status = 304;
    return;
  }
  ctx.type = 'application/json';
  ctx.body = body;
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
