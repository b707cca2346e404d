import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import Koa from 'koa';
import { Type } from 'typebox';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createApp } from '../../../api/app.ts';
import { createHttp } from '../../../api/http/app.ts';
import { bind, listen } from '../../../api/http/listen.ts';
import type { Route } from '../../../api/http/route.ts';
import { createLatest, type Latest } from '../../../api/latest/latest.ts';
import { readRoutes } from '../../../api/routes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { serveRpc } from '../../../devnet/rpc/server.ts';
import { serveVenues } from '../../../devnet/venues/server.ts';
import { createRegistry, serveMetrics } from '../../../runtime/process/metrics.ts';
import { openStage } from '../../devnet/stage.ts';
import { awaited } from '../../support/awaited.ts';
import { SETTINGS } from '../support/api.ts';

/** The bodies that a handler was given. */
const handled: unknown[] = [];
const echo: Route = {
  method: 'POST',
  path: '/api/agent/echo',
  summary: 'Says what it was told.',
  responses: { 200: Type.Unknown() },
  cached: false,
  handler: async ({ body }) => {
    handled.push(body);
    return { status: 200, body: { body } };
  },
};

/** Breaks a request off in the middle of its body, once the server has begun to take it. */
function abortedAt(url: string, path: string): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n`);
    });
    socket.once('data', () => socket.write('{"half": true}', () => socket.resetAndDestroy()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
  });
}

describe('aborted requests, malformed requests and floods', () => {
  const errors: unknown[] = [];
  let answer = Promise.withResolvers<never[]>();
  const store = { database: 'x', query: () => answer.promise } as unknown as Store;
  const serving = listen(
    createApp({
      latest: createLatest({ currentStore: () => store, clock: Date.now }),
      settings: SETTINGS,
      clock: Date.now,
      agentRoutes: [echo],
      trustProxy: 1,
      readsAtOnce: 2,
      onError: (error) => errors.push(error),
    }),
    '127.0.0.1',
    0,
  );
  afterAll(async () => (await serving).close());

  test('requests aborted in mid-body reach no handler and are not reported as errors', async () => {
    const url = `http://127.0.0.1:${(await serving).port}`;
    for (let n = 0; n < 20; n += 1) await abortedAt(url, '/api/agent/echo');
    // This one comes behind all of them.
    const body = JSON.stringify({ whole: true });
    expect((await fetch(`${url}/api/agent/echo`, { method: 'POST', body })).status).toBe(200);
    expect(handled).toEqual([{ whole: true }]);
    expect(errors).toEqual([]);
  });

  const post = 'POST /api/agent/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
  const get = (target: string, rest = '') =>
    `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${rest}\r\n`;
  test.each<[string, string, number[]]>([
    ['two lengths', `${post}Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}`, [400]],
    [
      'a length and chunks',
      `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      [400],
    ],
    ['a negative chunk', `${post}Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n`, [400]],
    [
      'a chunk with a long tail',
      `${post}Transfer-Encoding: chunked\r\n\r\n2;${'a'.repeat(17_000)}\r\n{}\r\n`,
      [413],
    ],
    ['a length beyond all numbers', `${post}Content-Length: ${'9'.repeat(30)}\r\n\r\n{}`, [400]],
    ['a wait for leave', `${post}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`, [100, 200]],
    ['another expectation', `${post}Expect: nonsense\r\nContent-Length: 2\r\n\r\n{}`, [417]],
    ['HTTP/1.0', 'GET /health HTTP/1.0\r\n\r\n', [200]],
    ['no host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', [400]],
    ['two hosts', get('/health', 'Host: y\r\n'), [400]],
    ['two hosts and an older HTTP', get('/health', 'Host: x\r\n').replace('1.1', '1.0'), [400]],
    ['another host in its target', get('http://evil.example/health'), [200]],
    ['a target that is no path', get('?x'), [400]],
    ['a star', get('*'), [404]],
    ['two slashes', get('//health'), [404]],
    ['a target that is no address', get('http://[::1'), [404]],
    ['a head of 17 kB', get('/health', `X: ${'a'.repeat(17_000)}\r\n`), [431]],
    ['a folded header', get('/health', 'X: a\r\n b\r\n'), [400]],
    ['another protocol', get('/health', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'), [200]],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001', [400]],
    ['a way through', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n', [405]],
    [
      'five requests at once',
      get('/health').replace('Connection: close\r\n', '').repeat(4) + get('/health'),
      Array(5).fill(200),
    ],
  ])(
    'a request with %s gets the expected status, and the server goes on serving',
    async (_, text, statuses) => {
      const { port } = await serving;
      const said = await new Promise<string>((resolve) => {
        let heard = '';
        const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'));
        socket.on('error', () => undefined);
        socket.on('data', (chunk) => {
          heard += chunk.toString('latin1');
        });
        socket.on('close', () => resolve(heard));
      });
      const answered = [...said.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
      expect(answered).toEqual(statuses);
      expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    },
  );

  test('beyond the number that may wait, a page is 503 busy with Retry-After, while /health answers', async () => {
    const url = `http://127.0.0.1:${(await serving).port}`;
    const page = (n: number, from: string) =>
      fetch(`${url}/rankings?offset=${n}`, { headers: { 'x-forwarded-for': from } });
    const flood = Array.from({ length: 600 }, (_, n) => page(n, '192.0.2.1'));
    const first = await Promise.race(flood);
    expect(first.status).toBe(503);
    expect(first.headers.get('retry-after')).toBe('1');
    expect(await first.json()).toEqual({
      error: 'too many requests are waiting; try again in 1 s',
      code: 'busy',
    });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    answer.reject(new Error('down'));
    // How many waited too long depends on the machine; the test of the gate checks the counts.
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([500, 503]));
    answer = Promise.withResolvers();
  });

  test('the local chain’s RPC, its venues and the metrics server survive aborted requests and a failing probe', async () => {
    const stage = await openStage();
    const rejected = vi.fn();
    process.on('unhandledRejection', rejected);
    const [node, venues, metrics] = await Promise.all([
      serveRpc({ ledger: stage.chain, port: 0 }),
      serveVenues({ chain: stage.chain, port: 0 }),
      serveMetrics(createRegistry('x'), () => Promise.reject(new Error('a probe broke')), '127.0.0.1', 0),
    ]);
    for (const url of [node.url, venues.catalogueUrl])
      for (const path of ['/', '/perp/info', '/options/public/get_ticker']) await abortedAt(url, path);
    const { hostname, port } = new URL(venues.catalogueUrl);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.end('GET // HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      });
      socket.on('data', () => undefined);
      socket.on('close', () => resolve());
    });
    expect((await fetch(`http://127.0.0.1:${metrics.port}/ready`)).status).toBe(500);
    expect((await fetch(`${venues.catalogueUrl}/pairs`)).status).toBe(200);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot' });
    expect((await fetch(node.url, { method: 'POST', body })).status).toBe(200);
    await Promise.all([node.close(), venues.close(), metrics.close()]);
    process.off('unhandledRejection', rejected);
    expect(rejected).not.toHaveBeenCalled();
  });
});

test('routes marked long have a few read places of their own and take none from other routes', async () => {
  let underWay = 0;
  const answered = Promise.withResolvers<never>();
  const read = () => {
    underWay += 1;
    return answered.promise;
  };
  const latest = { currentStore: () => ({ database: 'x' }), age: () => 0, readNow: () => null, read };
  const route = (path: string, long: object): Route => ({
    ...{ method: 'GET', path, summary: '', responses: {}, cached: true, ...long },
    query: Type.Object({ n: Type.Optional(Type.String()) }),
    answer: () => ({ status: 200, body: {} }),
  });
  const routes = [route('/long', { long: true }), route('/short', {})];
  const app = createHttp(routes, { latest: latest as unknown as Latest, clock: Date.now, readsAtOnce: 5 });
  const { port, close } = await listen(app, '127.0.0.1', 0);
  const many = (path: string) =>
    Array.from({ length: 20 }, (_, n) => fetch(`http://127.0.0.1:${port}${path}?n=${n}`));
  const long = many('/long');
  await awaited(() => expect(underWay).toBe(2));
  const short = many('/short');
  await awaited(() => expect(underWay).toBe(6));
  answered.reject(new Error('down'));
  await Promise.all([...long, ...short]);
  await close();
});

test('while Postgres hangs, pages of posts begin at most four reads and other routes still answer', async () => {
  const hangs = Promise.withResolvers<never>();
  let begun = 0;
  const readPosts = () => {
    begun += 1;
    return hangs.promise;
  };
  const latest = {
    currentStore: () => ({ database: 'x' }),
    ...{ age: () => 0, readNow: () => null, stillHolds: () => false },
    read: async () => ({
      value: { status: 200, body: { items: [] } },
      ...{ cells: [], stamps: [], until: Number.POSITIVE_INFINITY },
    }),
  } as unknown as Latest;
  const routes = readRoutes({ latest, settings: SETTINGS, readPosts });
  const app = createHttp(routes, { latest, clock: Date.now, readsAtOnce: 2, trustProxy: 1 });
  const { port, close } = await listen(app, '127.0.0.1', 0);
  const from = (path: string, n: number) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-forwarded-for': `192.0.2.${n}` } });
  const posts = Array.from({ length: 20 }, (_, n) => from('/coins/m/posts', n + 1));
  await awaited(() => expect(begun).toBeGreaterThan(0));
  for (const path of ['/origins', '/rankings', '/coins/m/history'])
    expect((await from(path, 100)).status, path).toBe(200);
  // No more than Postgres has connections for.
  expect(begun).toBeLessThanOrEqual(4);
  hangs.reject(new Error('Postgres is away'));
  for (const page of posts) expect((await page).status).toBeGreaterThanOrEqual(500);
  await close();
});

test('a connection that does not complete its request head in time is closed', async () => {
  const { port, close } = await bind('127.0.0.1', 0, { headersTimeoutMs: 50 });
  const ended = ['', 'GET /health HTTP/1.1\r\nHost: x\r\nX-Half'].map(
    (text) =>
      new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(text));
        socket.on('error', () => undefined);
        socket.resume();
        socket.on('close', () => resolve());
      }),
  );
  await Promise.all(ended);
  await close();
});

/** More bytes than the buffers at both ends of a connection hold. */
const LARGE = 24 * 1024 * 1024;

test('pipelined requests of a connection that does not read are answered one at a time', async () => {
  let answered = 0;
  const large: Route = {
    ...{ method: 'GET', path: '/large', summary: '', responses: {}, cached: false },
    handler: async () => {
      answered += 1;
      return { status: 200, body: Buffer.alloc(LARGE, answered) };
    },
  };
  const latest = { currentStore: () => ({ database: 'x' }) } as unknown as Latest;
  const { port, close } = await listen(createHttp([large], { latest, clock: Date.now }), '127.0.0.1', 0);
  const request = 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n';
  const socket = connect(port, '127.0.0.1', () => socket.pause().write(request.repeat(3)));
  socket.on('error', () => undefined);
  await awaited(() => expect(answered).toBeGreaterThan(0));
  // By the time another connection is answered, the other requests on this one would have been looked at.
  expect((await fetch(`http://127.0.0.1:${port}/none`)).status).toBe(404);
  expect(answered).toBe(1);
  let heard = 0;
  socket.on('data', (chunk) => {
    heard += chunk.length;
  });
  socket.resume();
  await awaited(() => expect(heard).toBeGreaterThan(3 * LARGE));
  expect(answered).toBe(3);
  socket.destroy();
  await close();
});

test('a connection that pipelines many requests behind an endless stream is closed, and none of them is handled', async () => {
  let answered = 0;
  const stream: Route = {
    ...{ method: 'GET', path: '/stream', summary: '', responses: {}, cached: false },
    handler: async () => ({ status: 200, body: new PassThrough() }),
  };
  const other: Route = {
    ...{ method: 'GET', path: '/other', summary: '', responses: {}, cached: false },
    handler: async () => {
      answered += 1;
      return { status: 200, body: {} };
    },
  };
  const latest = { currentStore: () => ({ database: 'x' }) } as unknown as Latest;
  const app = createHttp([stream, other], { latest, clock: Date.now });
  const { port, close } = await listen(app, '127.0.0.1', 0);
  const requests = (path: string, count: number) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count);
  const few = connect(port, '127.0.0.1', () => few.write(requests('/other', 30)));
  let heard = '';
  few.on('data', (chunk) => {
    heard += chunk;
  });
  await awaited(() => expect(heard.match(/ 200 OK/g)).toHaveLength(30));
  few.destroy();
  answered = 0;
  const many = connect(port, '127.0.0.1', () => many.write(requests('/stream', 1) + requests('/other', 40)));
  many.on('error', () => undefined);
  many.resume();
  await new Promise<void>((resolve) => many.on('close', () => resolve()));
  expect((await fetch(`http://127.0.0.1:${port}/none`)).status).toBe(404);
  expect(answered).toBe(0);
  await close();
});

test('a client that asks again after each response gets whole responses and does not keep the server from closing', async () => {
  const asked = Promise.withResolvers<void>();
  const isClosing = Promise.withResolvers<void>();
  const app = new Koa();
  app.silent = true;
  app.use(async (ctx) => {
    asked.resolve();
    await isClosing.promise;
    ctx.body = 'whole';
  });
  const { port, close } = await listen(app, '127.0.0.1', 0);
  let said = '';
  const socket = connect(port, '127.0.0.1');
  const ask = () => socket.writable && socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  socket.on('data', (chunk) => {
    said += chunk;
    ask();
  });
  socket.on('error', () => undefined);
  ask();
  await asked.promise;
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  const closed = close();
  isClosing.resolve();
  await Promise.all([closed, ended]);
  const answers = said.split('HTTP/1.1 200').slice(1);
  expect(answers.length).toBeLessThanOrEqual(2);
  expect(answers.every((answer) => answer.endsWith('whole'))).toBe(true);
  expect(answers.length).toBeGreaterThan(0);
});

test('the server closes only once the request of a disconnected client has been handled to its end', async () => {
  const asked = Promise.withResolvers<void>();
  const said: string[] = [];
  const app = new Koa();
  app.silent = true;
  app.use(async ({ req }) => {
    const gone = new Promise((resolve) => req.socket.once('close', resolve));
    asked.resolve();
    await gone;
    // By then a process that waited only for connections would have ended.
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    said.push('done');
  });
  const { port, close } = await listen(app, '127.0.0.1', 0);
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
  await asked.promise;
  const closed = close().then(() => said.push('closed'));
  socket.resetAndDestroy();
  await closed;
  expect(said).toEqual(['done', 'closed']);
});

test('a peer has a limited number of connections, free again once they end; behind a proxy there is no such limit', async () => {
  const held = async (trustProxy: number, count: number) => {
    const { port, close } = await bind('127.0.0.1', 0, { mostOfPeer: 3, trustProxy });
    let ended = 0;
    const sockets = Array.from({ length: count }, () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.resume();
      socket.on('close', () => {
        ended += 1;
      });
      return socket;
    });
    return { port, close, sockets, ended: () => ended };
  };
  const straight = await held(0, 5);
  await awaited(() => expect(straight.ended()).toBe(2));
  for (const socket of straight.sockets) socket.destroy();
  await awaited(() => expect(straight.ended()).toBe(5));
  // The server notices an end a little later than the client that ended.
  await awaited(
    () =>
      new Promise<void>((resolve, reject) => {
        const socket = connect(straight.port, '127.0.0.1', () => socket.write('GET / HTTP/9.9\r\n\r\n'));
        socket.on('error', () => undefined);
        socket.once('data', () => resolve());
        socket.on('close', () => reject(new Error('no room')));
      }),
  );
  await straight.close();
  const behindProxy = await held(1, 5);
  await awaited(() => expect(behindProxy.sockets.every(({ connecting }) => !connecting)).toBe(true));
  const heard = new Promise<string>((resolve) => {
    const sixth = connect(behindProxy.port, '127.0.0.1', () => sixth.write('GET / HTTP/9.9\r\n\r\n'));
    sixth.once('data', (chunk) => resolve(String(chunk)));
  });
  expect(await heard).toContain('400');
  expect(behindProxy.ended()).toBe(0);
  for (const socket of behindProxy.sockets) socket.destroy();
  await behindProxy.close();
});
