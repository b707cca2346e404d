import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { awaited } from '../../support/awaited.ts';
import { freshAddress } from './support/api-at.ts';
import { testKey } from './support/keys.ts';
import { ENGINES } from './support/postgres.ts';
import { BEARER_ROUTES, refusalsOf } from './support/refused.ts';
import { useAgentStage } from './support/stage.ts';

const LARGE = { kind: 'idle', text: 'x'.repeat(17_000) };
const WRITES = BEARER_ROUTES.filter(([method]) => method === 'POST').map(([, path]) => path);

/** A body in chunks, without a Content-Length. */
function inChunks(token?: string): RequestInit {
  const pieces = [new TextEncoder().encode('{"kind":"idle","text":"'), Buffer.alloc(17_000, 'x')];
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { 'x-forwarded-for': freshAddress(), ...authorization };
  return { method: 'POST', body, headers, duplex: 'half' } as RequestInit;
}

describe.each(ENGINES)('a request body over 16 KiB (%s)', (engine) => {
  const stage = useAgentStage(engine);
  const { refused, post, loggedIn } = refusalsOf(stage);

  test('is 413 for challenge and session, with or without a token', async () => {
    const { token } = await loggedIn();
    for (const path of ['challenge', 'session'])
      for (const bearer of [undefined, token])
        await refused(413, 'too_large', () => stage.api.call('POST', path, LARGE, bearer));
  });

  test.each(WRITES)(
    '%s: is 401 without a live session and 413 with one, before the policy kind is checked',
    async (path) => {
      const { token } = await loggedIn({ originId: 1 });
      await refused(401, 'invalid_session', () => stage.api.call('POST', path, LARGE));
      await refused(401, 'invalid_session', () => stage.api.call('POST', path, LARGE, 'A'.repeat(43)));
      await refused(413, 'too_large', () => stage.api.call('POST', path, LARGE, token));
      const url = `${stage.api.url}/api/agent/${path}`;
      expect((await fetch(url, inChunks())).status).toBe(401);
      expect((await fetch(url, inChunks(token))).status).toBe(413);
    },
  );

  test('counts as a failed attempt of its address without a session, and against no policy with one', async () => {
    const from = freshAddress();
    for (let n = 0; n < 60; n += 1)
      expect((await stage.api.call('POST', 'posts', LARGE, undefined, from)).status).toBe(401);
    await refused(429, 'rate_limited', () => stage.api.call('POST', 'posts', LARGE, undefined, from));
    const { mint, token } = await loggedIn();
    expect((await post(token, LARGE)).status).toBe(413);
    const counted = await stage.db.query('SELECT 1 FROM attempts WHERE subject = $1', [`refused:${mint}`]);
    expect(counted).toEqual([]);
  });

  test('is 403, then 401, for a key that was rotated out, and 503 while the node is unreachable', async () => {
    const { mint, token } = await loggedIn();
    stage.rpc.fault = 'refuse';
    await refused(503, 'chain_unreachable', () => post(token, LARGE));
    stage.rpc.fault = null;
    stage.rpc.slot += 10;
    stage.rpc.policy({ mint, agent: testKey('the next agent').address });
    await refused(403, 'not_the_agent', () => post(token, LARGE), 1);
    await refused(401, 'invalid_session', () => post(token, LARGE));
  });

  test('is refused before it has arrived whole, and the next request on the connection is still answered', async () => {
    const { token } = await loggedIn();
    const { port, hostname } = new URL(stage.api.url);
    const head = `POST /api/agent/posts HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${freshAddress()}\r\n`;
    let heard = '';
    const socket = connect(Number(port), hostname);
    socket.on('data', (chunk) => {
      heard += chunk.toString();
    });
    const statuses = () => [...heard.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
    socket.write(`${head}Content-Length: 20000\r\n\r\n`);
    await awaited(() => expect(statuses()).toEqual(['401']));
    socket.write('x'.repeat(20_000));
    socket.write(`${head}Authorization: Bearer ${token}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    socket.write(`${(17_000).toString(16)}\r\n${'x'.repeat(17_000)}\r\n`);
    await awaited(() => expect(statuses()).toEqual(['401', '413']));
    socket.write(`4\r\nmore\r\n0\r\n\r\n`);
    const body = JSON.stringify({ kind: 'idle', text: 'behind them' });
    socket.write(`${head}Authorization: Bearer ${token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await awaited(() => expect(statuses()).toEqual(['401', '413', '201']));
    socket.destroy();
  });
});
