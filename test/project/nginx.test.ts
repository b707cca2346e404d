import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explorerRoutes } from '../../api/explorer/routes.ts';
import { createHttp } from '../../api/http/app.ts';
import { type Listening, listen } from '../../api/http/listen.ts';
import { METHOD_NOT_ALLOWED, METHODS } from '../../api/http/methods.ts';
import type { OwnRoute } from '../../api/http/route.ts';
import type { Latest } from '../../api/latest/latest.ts';
import { awaited } from '../support/awaited.ts';
import { freePort } from '../support/free-port.ts';
import { readCompose, textOf } from './support/compose.ts';

const NGINX = ['nginx', '/usr/sbin/nginx'].find((name) => spawnSync(name, ['-v']).error === undefined);
const missing = NGINX === undefined ? ': nginx is not installed' : '';
if (missing !== '' && process.env.CI === 'true') throw new Error('nginx is not there; CI installs it');

/** More than a connection's own buffers hold. */
const LARGE = 16 * 1024 * 1024;
const BYTES = Buffer.alloc(LARGE, 'x');
const route = (path: string, handler: OwnRoute['handler']): OwnRoute => ({
  ...{ method: 'GET', path, summary: '', responses: { 200: Type.Unknown() }, cached: false },
  ...{ mediaType: 'text/plain', handler },
});
const text = { 'Content-Type': 'text/plain' };

describe.skipIf(NGINX === undefined)(`the shipped nginx configuration${missing}`, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'nginx-'));
  let api: Listening;
  let port: number;
  let stop: () => Promise<void>;
  /** The streams that were opened, each with the Last-Event-ID of its request. */
  const streams: { body: Readable; after: string | undefined }[] = [];

  beforeAll(async () => {
    const trustProxy = Number(/\$\{TRUST_PROXY:-(\d+)\}/.exec(textOf('docker-compose.yml'))?.[1]);
    expect(readCompose().services.api?.environment).toMatchObject({ TRUST_PROXY: String(trustProxy) });
    const explorer = explorerRoutes({ service: 'a service', programId: 'a program', isLocalChain: false });
    const app = createHttp(
      [
        { ...route('/told', async ({ body }) => ({ status: 200, body: { body } })), method: 'POST' },
        route('/who', async ({ clientAddress: body }) => ({ status: 200, body, headers: text })),
        route('/held', () => new Promise(() => {})),
        route('/large', async () => ({ status: 200, body: BYTES, headers: text })),
        ...explorer.pages,
        ...explorer.others,
        route('/stream/told', async ({ headers: { 'last-event-id': after } }) => {
          const body = new Readable({ read: () => {} });
          streams.push({ body, after });
          return { status: 200, body, headers: { 'Content-Type': 'text/event-stream' } };
        }),
      ],
      { latest: {} as Latest, clock: Date.now, trustProxy },
    );
    api = await listen(app, '127.0.0.1', 0);
    port = await freePort();
    // Use this machine's names and ports; older releases lack `resolve`, which Docker's names need.
    const config = textOf('deploy/nginx.conf')
      .replaceAll('/tmp/', `${directory}/`)
      .replace(/^ *resolver .*$/m, '')
      .replace(/server api:8080 .*;/, `server 127.0.0.1:${api.port};`)
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      // Else the first of 130 clients that do not read would be dropped before a loaded machine has asked for the last.
      .replace('send_timeout 30s', 'send_timeout 1200s');
    expect(config).toContain(`server 127.0.0.1:${api.port};`);
    expect(config).toContain('send_timeout 1200s;');
    mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(directory, 'nginx.conf'), config);
    const args = ['-p', directory, '-c', path.join(directory, 'nginx.conf'), '-g', 'daemon off;'];
    const child = spawn(NGINX as string, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const ended = once(child, 'exit');
    stop = async () => {
      child.kill('SIGTERM');
      await ended;
    };
    await awaited(() => fetch(`http://127.0.0.1:${port}/who`).catch(() => Promise.reject(new Error(said))));
  });
  afterAll(async () => {
    await stop?.();
    await api?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const who = async (forwarded?: string) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    return (await fetch(`http://127.0.0.1:${port}/who`, { headers })).json();
  };

  test('the API sees the last X-Forwarded-For address as the client, and an IPv6 one as its /64', async () => {
    expect(await who('203.0.113.7')).toBe('203.0.113.7');
    expect(await who('203.0.113.8')).toBe('203.0.113.8');
    expect(await who('192.0.2.1, 198.51.100.9, 203.0.113.9')).toBe('203.0.113.9');
    expect(await who('2001:db8:1:2::3')).toBe('2001:db8:1:2::/64');
    expect(await who()).toBe('127.0.0.1');
  });

  test.each([16_384, 16_385, 65_537])(
    'a body of %i bytes is accepted up to 16384 bytes, else refused with 413 in the API’s JSON form',
    async (size) => {
      const body = `"${'x'.repeat(size - 2)}"`;
      const reply = await fetch(`http://127.0.0.1:${port}/told`, { method: 'POST', body });
      const fits = { status: 200, body: { body: body.slice(1, -1) } };
      const refused = { status: 413, body: { error: 'the body is over 16384 bytes', code: 'too_large' } };
      expect({ status: reply.status, body: await reply.json() }).toEqual(size > 16_384 ? refused : fits);
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    },
  );

  test('of 130 clients at one address that never read, 100 are served; nothing is spooled, another client gets all', async () => {
    const slow: Socket[] = [];
    const answers: string[] = [];
    for (let n = 0; n < 130; n += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      slow.push(socket);
      socket.write('GET /large HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.66\r\n\r\n');
      // One after the other: of a hundred at once, on a loaded machine, the API would answer the last that it is busy.
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      socket.pause();
      answers.push(chunk.toString('latin1').slice(0, 12));
    }
    const told = (status: number) => answers.filter((line) => line.endsWith(`${status}`)).length;
    expect([told(200), told(429)], answers.join()).toEqual([100, 30]);
    const honest = await fetch(`http://127.0.0.1:${port}/large`, {
      headers: { 'x-forwarded-for': '203.0.113.67' },
    });
    expect((await honest.text()).length).toBe(LARGE);
    const spooled = spawnSync('find', [path.join(directory, 'proxy'), '-type', 'f']).stdout.toString();
    expect(spooled).toBe('');
    for (const socket of slow) socket.destroy();
  });

  test('an event stream passes unbuffered, with its Last-Event-ID, and closing either end closes the other', async () => {
    const leave = new AbortController();
    const open = async () => {
      const before = streams.length;
      const headers = { 'last-event-id': 'the event before' };
      const reply = fetch(`http://127.0.0.1:${port}/stream/told`, { headers, signal: leave.signal });
      await awaited(() => expect(streams.length).toBe(before + 1));
      const { body, after } = streams[before] as (typeof streams)[number];
      expect(after).toBe('the event before');
      body.push('data: the first\n\n');
      const reader = ((await reply).body as ReadableStream<Uint8Array>).getReader();
      const next = async () => {
        const { value } = await reader.read();
        return value === undefined ? null : Buffer.from(value).toString();
      };
      expect(await next()).toBe('data: the first\n\n');
      return { body, next };
    };
    const [ended, left] = [await open(), await open()];
    left.body.push('data: the second\n\n');
    expect(await left.next()).toBe('data: the second\n\n');
    ended.body.push(null);
    expect(await ended.next()).toBe(null);
    leave.abort();
    await awaited(() => expect(left.body.destroyed).toBe(true));
  });

  test.each([
    ['', (n: number) => `2001:db8:7:8:${(n + 1).toString(16)}::${n + 1}`],
    [' that is written shorter', (n: number) => `2001:db8:7::${n + 1}:1`],
  ])('IPv6 addresses of one /64%s share one limit of connections', async (_, from) => {
    const sockets: Socket[] = [];
    const answers: string[] = [];
    for (let n = 0; n < 101; n += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => answers.push(chunk.toString('latin1').slice(0, 12)));
      socket.write(`GET /held HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from(n)}\r\n\r\n`);
      sockets.push(socket);
    }
    await awaited(() => expect(answers).toEqual(['HTTP/1.1 429']));
    expect(await who('2001:db8:7:9::3')).toBe('2001:db8:7:9::/64');
    for (const socket of sockets) socket.destroy();
  });

  const UNREAD = [400, 'this is no HTTP request'] as const;
  test.each([
    ['an invalid escape', 'GET /coins/%zz HTTP/1.1', ...UNREAD],
    ['a path above the root', 'GET /a/../../b HTTP/1.1', ...UNREAD],
    ['a long path', `GET /who?${'x'.repeat(17_000)} HTTP/1.1`, ...UNREAD],
    ['a long header', `GET /who HTTP/1.1\r\nx: ${'x'.repeat(17_000)}`, ...UNREAD],
    ['a long head', `GET /who HTTP/1.1${`\r\nx: ${'x'.repeat(11_000)}`.repeat(3)}`, ...UNREAD],
    ['a line that is not a request', 'who?', ...UNREAD],
    ['TRACE', 'TRACE /who HTTP/1.1', 405, METHOD_NOT_ALLOWED],
    ['an unknown transfer coding', 'POST /told HTTP/1.1\r\nTransfer-Encoding: gzip, chunked', ...UNREAD],
  ])('%s is refused by nginx, with an error in the API’s JSON form', async (_, head, status, error) => {
    expect(await answered(`${head}\r\nHost: x\r\nConnection: close\r\n\r\n`)).toEqual({
      status,
      allow: status === 405 ? METHODS : undefined,
      body: { error },
    });
  });

  test('a path and a header of 15,000 characters reach the API', async () => {
    const long = 'x'.repeat(15_000);
    const replies = [
      await fetch(`http://127.0.0.1:${port}/who?${long}`),
      await fetch(`http://127.0.0.1:${port}/who`, { headers: { 'if-none-match': long } }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
  });

  test.each([
    ['/explorer?%', 308],
    ['/explorer/coins/%/', 404],
    ['/explorer/protocol/?%', 404],
  ])('%s with 15,000 more characters is answered with status %i', async (path, status) => {
    const long = path.replace('%', 'x'.repeat(15_000));
    const reply = await fetch(`http://127.0.0.1:${port}${long}`, { redirect: 'manual' });
    expect(reply.status).toBe(status);
  });

  test('while no API is up, nginx answers 502 with an error in the API’s JSON form', async () => {
    await api.close();
    const reply = await fetch(`http://127.0.0.1:${port}/who`);
    expect({ status: reply.status, body: await reply.json() }).toEqual({
      status: 502,
      body: { error: 'the service does not answer now' },
    });
    expect(reply.headers.get('retry-after')).toBe('1');
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  });

  /** The answer to bytes that no HTTP client would send. */
  async function answered(
    request: string,
  ): Promise<{ status: number; allow: string | undefined; body: unknown }> {
    const socket = connect(port, '127.0.0.1');
    socket.end(request);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const [headers = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
    expect(headers).toMatch(/access-control-allow-origin: \*/i);
    const [, allow] = /^allow: (.*)$/im.exec(headers) ?? [];
    return { status: Number(headers.slice(9, 12)), allow, body: JSON.parse(body) };
  }
});
