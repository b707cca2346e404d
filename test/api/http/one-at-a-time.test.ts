import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { Type } from 'typebox';
import { afterAll, expect, test } from 'vitest';
import { createHttp } from '../../../api/http/app.ts';
import { listen } from '../../../api/http/listen.ts';
import type { Route, RouteReply } from '../../../api/http/route.ts';
import type { Latest } from '../../../api/latest/latest.ts';
import { awaited } from '../../support/awaited.ts';

/** More bytes than both ends of a connection buffer, so it is sent in parts. */
const LARGE = 12 * 1024 * 1024;
let later = Promise.withResolvers<void>();
const streams: PassThrough[] = [];

const get = (path: string, handler: () => Promise<RouteReply>): Route => ({
  ...{ method: 'GET', path, summary: '', responses: { 200: Type.Any() }, cached: false },
  handler,
});
const large = (): RouteReply => ({
  status: 200,
  body: Buffer.alloc(LARGE, 'a'),
  rest: [{ bytes: Buffer.from('z'), tag: 'z' }],
});
const routes: Route[] = [
  get('/later', async () => {
    await later.promise;
    return { status: 200, body: { page: 'later' } };
  }),
  get('/large', async () => large()),
  get('/stream', async () => {
    const body = new PassThrough();
    streams.push(body);
    return { status: 200, body };
  }),
  {
    ...get('/said', async () => ({ status: 200, body: {} })),
    method: 'POST',
  },
];
const latest = { currentStore: () => ({ database: 'x' }) } as unknown as Latest;
const { port, close } = await listen(createHttp(routes, { latest, clock: Date.now }), '127.0.0.1', 0);
afterAll(close);

/** All that is heard on one connection. */
function told(bytes: string): { heard(): string; over: Promise<void> } {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const parts: Buffer[] = [];
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
  socket.on('data', (chunk) => parts.push(chunk));
  socket.on('error', () => undefined);
  socket.on('close', () => resolve());
  return { heard: () => String(Buffer.concat(parts)), over };
}
const asking = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const elseAnswered = async () => expect((await fetch(`http://127.0.0.1:${port}/none`)).status).toBe(404);

const NONSENSE: [string, string, number][] = [
  ['a line that is not a request', 'nonsense\r\n\r\n', 400],
  ['9,000 lines that are not requests', 'nonsense\r\n\r\n'.repeat(9_000), 400],
  ['an unknown method', 'MAKE / HTTP/1.1\r\nHost: x\r\n\r\n', 405],
  ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
  ['two Host headers', 'GET /large HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
  ['an unknown Expect header', 'GET /large HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n', 417],
  ['a head of 30 kB', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(30_000)}`, 431],
  ['a malformed chunk', 'POST /said HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n', 400],
];

const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

test.each(NONSENSE)(
  'invalid input (%s) is refused after the requests before it are answered, and ends the connection',
  async (_, bytes, refusal) => {
    later = Promise.withResolvers();
    const { heard, over } = told(asking('/later') + asking('/later') + bytes + asking('/later'));
    await elseAnswered();
    expect(heard()).toBe('');
    later.resolve();
    await over;
    expect(statuses(heard())).toEqual([200, 200, refusal]);
  },
);

test.each(NONSENSE)(
  'invalid input (%s) puts nothing into the response that is still being read',
  async (_, bytes, refusal) => {
    const { heard, over } = told(asking('/large') + bytes);
    await over;
    const [head = '', all = ''] = heard().split('\r\n\r\n');
    expect(head).toContain(`Content-Length: ${LARGE + 1}`);
    expect(all.indexOf('HTTP/1.1')).toBe(LARGE + 1);
    expect(statuses(heard())).toEqual([200, refusal]);
  },
);

test.each(NONSENSE)(
  'invalid input (%s) behind a stream is refused once the stream has ended',
  async (_, bytes, refusal) => {
    const { heard, over } = told(asking('/stream') + bytes);
    await awaited(() => expect(streams).toHaveLength(1));
    await elseAnswered();
    const stream = streams.pop();
    stream?.write('event');
    await awaited(() => expect(heard()).toContain('event'));
    expect(statuses(heard())).toEqual([200]);
    stream?.end();
    await over;
    expect(statuses(heard())).toEqual([200, refusal]);
  },
);

test.each(NONSENSE)('invalid input (%s) alone is refused at once', async (_, bytes, refusal) => {
  const { heard, over } = told(bytes);
  await over;
  expect(statuses(heard())).toEqual([refusal]);
});

test('a client that keeps sending invalid input behind an open stream is disconnected without another response', async () => {
  const { heard, over } = told(asking('/stream') + 'nonsense\r\n\r\n'.repeat(40_000));
  await over;
  expect(statuses(heard()).slice(1)).toEqual([]);
});
