import http from 'node:http';
import { connect } from 'node:net';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { Type } from 'typebox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientAddress } from '../../../api/http/client-address.ts';
import type { Route } from '../../../api/http/route.ts';
import { awaited } from '../../support/awaited.ts';
import { useApi } from '../support/use-api.ts';

const echo: Route = {
  method: 'POST',
  path: '/api/agent/echo',
  summary: 'Says what it was told.',
  body: Type.Unknown(),
  responses: { 200: Type.Unknown() },
  cached: false,
  handler: async ({ body, clientAddress }) => ({
    status: 200,
    body: { body: body === undefined ? 'none' : body, clientAddress },
    headers: { 'X-Kept': 'yes' },
  }),
};

const answered: string[] = [];
const held = useApi(undefined, {
  agentRoutes: [echo],
  trustProxy: 1,
  onAnswered: (_, path, status) => answered.push(`${status} ${path}`),
});

describe('request bodies and client addresses', () => {
  const post = (body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    held.api.request('POST', '/api/agent/echo', { body, headers });

  test('a handler receives the parsed JSON, its headers reach the client, and a body that is not JSON is undefined', async () => {
    const reply = await post('{"a":[1]}');
    expect(reply.body).toMatchObject({ body: { a: [1] } });
    expect(reply.headers.get('x-kept')).toBe('yes');
    expect(reply.headers.get('cache-control')).toBe('no-store');
    for (const broken of ['', '{', Uint8Array.of(34, 255, 34)]) {
      expect((await post(broken)).body).toMatchObject({ body: 'none' });
    }
  });

  test('a body of 16 KiB is accepted and a larger one is 413, with or without a Content-Length', async () => {
    expect((await post(`"${'x'.repeat(16 * 1024 - 2)}"`)).status).toBe(200);
    const reply = await post(`"${'x'.repeat(16 * 1024 - 1)}"`);
    expect(reply.status).toBe(413);
    expect(reply.body).toMatchObject({ code: 'too_large' });
    const chunk = new TextEncoder().encode('x'.repeat(10_000));
    const stream = new ReadableStream({
      start(controller) {
        for (let count = 0; count < 3; count += 1) controller.enqueue(chunk);
        controller.close();
      },
    });
    const streamed = await held.api.request('POST', '/api/agent/echo', {
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect(streamed.status).toBe(413);
  });

  test('after a chunked body that was too large, the next request on the connection is answered', async () => {
    const { hostname, port } = new URL(held.api.url);
    const piece = `4e20\r\n${'x'.repeat(20_000)}\r\n`;
    const heard = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(Number(port), hostname, async () => {
        socket.write('POST /api/agent/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
        for (let n = 0; n < 7; n += 1) {
          socket.write(piece);
          // Piece by piece: the first one is answered with 413 already, the others are dropped.
          if (n === 0) await awaited(() => expect(text).toContain('413'));
          await othersTurn();
        }
        socket.write('0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      });
      socket.on('data', (answer) => {
        text += answer.toString();
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });
    expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });

  test.each([400_000, 5_000_000])(
    'a body of %i bytes gets its refusal, and the connection goes on',
    async (size) => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      onTestFinished(() => agent.destroy());
      const sockets = new Set<unknown>();
      const ask = (method: string, path: string, body?: Buffer) =>
        new Promise<number | undefined>((resolve, reject) => {
          const request = http.request(`${held.api.url}${path}`, { method, agent }, (response) => {
            response.resume().on('end', () => resolve(response.statusCode));
          });
          request.on('socket', (socket) => sockets.add(socket));
          request.on('error', reject);
          request.end(body);
        });
      for (const path of ['/api/agent/echo', '/nothing']) {
        expect(await ask('POST', path, Buffer.alloc(size, 'x'))).toBe(path === '/nothing' ? 404 : 413);
        expect(await ask('GET', '/health')).toBe(200);
      }
      expect(sockets.size).toBe(1);
    },
  );

  test.each([
    ['a route that takes one', 'POST /api/agent/echo'],
    ['a route that takes none', 'GET /health'],
    ['an unknown path', 'POST /nothing'],
  ])('an endless body sent to %s gets a response, and its connection is closed', async (_, line) => {
    const { hostname, port } = new URL(held.api.url);
    const most = 64 * 1024 * 1024;
    const chunk = Buffer.alloc(65_536, 'x');
    let heard = '';
    let sent = 0;
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname);
      socket.on('data', (answer) => {
        heard += answer.toString();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve());
      const go = () => {
        while (!socket.destroyed && sent < most) {
          sent += chunk.length;
          if (!socket.write(chunk)) return void socket.once('drain', go);
        }
        socket.destroy();
      };
      socket.write(`${line} HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 * most}\r\n\r\n`, go);
    });
    expect(heard).toMatch(/^HTTP\/1\.1 (413|200|404) /);
    expect(sent).toBeLessThan(most);
  });

  test('a client that ends its connection in mid-body is not reported as answered, and others are still served', async () => {
    answered.length = 0;
    const { hostname, port } = new URL(held.api.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write('POST /api/agent/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
        socket.end();
      });
      socket.on('data', () => undefined);
      socket.on('close', () => resolve());
    });
    expect((await held.api.get('/health')).status).toBe(200);
    expect(answered).toEqual(['200 /health']);
  });

  test.each([
    ['9.9.9.9, 1.2.3.4', '1.2.3.4'],
    ['1.2.3.4:5678', '1.2.3.4'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['[2001:db8::1]:443', '2001:db8:0:0::/64'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['0:0:0:0:0:FFFF:0102:0304', '1.2.3.4'],
    ['[::ffff:102:304]:443', '1.2.3.4'],
    ['garbage', '127.0.0.1'],
  ])('behind one proxy, a client forwarded as %s counts as %s', async (header, address) => {
    expect((await post('1', { 'x-forwarded-for': header })).body).toMatchObject({ clientAddress: address });
  });
  test.each([
    [0, '9.9.9.9'],
    [1, '2.2.2.2'],
    [2, '1.1.1.1'],
    [3, '1.1.1.1'],
  ])(
    'with TRUST_PROXY %i, X-Forwarded-For "1.1.1.1, 2.2.2.2" sent by 9.9.9.9 counts as %s',
    (trusted, address) => {
      expect(clientAddress('9.9.9.9', '1.1.1.1, 2.2.2.2', trusted)).toBe(address);
    },
  );
});
