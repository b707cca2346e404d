import type { AddressInfo } from 'node:net';
import Koa from 'koa';

/** Baseline of a POST on this machine: a process with a Koa route that reads the body and does nothing with it. */
const app = new Koa();
app.use(async (ctx) => {
  const chunks: Buffer[] = [];
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer);
  JSON.parse(Buffer.concat(chunks).toString());
  ctx.status = 201;
  ctx.body = { ok: true };
});
const server = app.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ port })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
