import { connect } from 'node:net';
import fc from 'fast-check';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Route } from '../../api/route.ts';
import type { Store } from '../../clickhouse/client.ts';
import { startApi, type TestApi } from './support/api.ts';
import { appliedRow, key, mintRow, policyRow } from './support/rows.ts';
import { emptyStore } from './support/store.ts';

let engine: Awaited<ReturnType<typeof emptyStore>>;
let api: TestApi;
let down: TestApi;
let queries = 0;

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

const failing: Store = {
  database: 'gone',
  query: async () => {
    throw new Error(
      'connect ECONNREFUSED http://reader:hunter2@db.internal:8123/x?key=abc with token t0ps3cret',
    );
  },
  insert: async () => undefined,
  command: async () => undefined,
  close: async () => undefined,
};

beforeAll(async () => {
  engine = await emptyStore();
  const counted: Store = {
    ...engine.store,
    query: (sql, params) => {
      queries += 1;
      return engine.store.query(sql, params);
    },
  };
  api = await startApi(counted, { agentRoutes: [echo], trustProxy: 1 });
  down = await startApi(failing, { secrets: ['t0ps3cret'] });
  await api.insert('policies', [policyRow('coin', 'usd')]);
  await api.insert('mints', [mintRow('coin', 6, { name: 'Coin', symbol: 'C', uri: '' })]);
  await api.insert('applied', [appliedRow('transactions', 0)]);
});
afterAll(async () => {
  await api.close();
  await down.close();
  await engine.close();
});

describe('the form of answers', () => {
  test('JSON with two spaces and a newline at the end, open to every origin', async () => {
    const reply = await api.get('/health');
    expect(reply.text).toBe('{\n  "ok": true,\n  "service": "test-indexer"\n}\n');
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  });

  test('every error is JSON of the same form, open to every origin', async () => {
    for (const path of ['/nowhere', '/coins/x', '/rankings?sort=x']) {
      const reply = await api.request('GET', path);
      expect(reply.text).toBe(`${JSON.stringify(reply.body, null, 2)}\n`);
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  test('no answer names a version', async () => {
    const { headers } = await api.get('/status');
    for (const [name, value] of headers)
      expect(`${name}: ${value}`).not.toMatch(/version|koa|express|x-powered-by/i);
  });
});

describe('methods and paths', () => {
  test.each(['PUT', 'DELETE', 'PATCH', 'PROPFIND', 'QUERY'])('%s is 405 on any path', async (method) => {
    for (const path of ['/health', '/nowhere', '/api/agent/echo']) {
      const reply = await api.request(method, path);
      expect(reply.status).toBe(405);
      expect(reply.body).toEqual({
        error: 'method not allowed; this API answers GET and the three /api/agent/* POSTs',
      });
    }
  });

  test('HEAD is 405', async () => {
    expect((await api.request('HEAD', '/health')).status).toBe(405);
  });

  test('OPTIONS is 204 with the methods and headers that are allowed', async () => {
    const { status, headers, text } = await api.request('OPTIONS', '/api/agent/posts');
    expect([status, text]).toEqual([204, '']);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-methods')).toBe('GET, POST, OPTIONS');
    expect(headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(headers.get('access-control-allow-headers')).toContain('Content-Type');
  });

  test.each([
    ['GET', '/whatever'],
    ['GET', '/coins'],
    ['GET', '/coins/'],
    ['GET', '/coins/a/b'],
    ['GET', '/Health'],
    ['GET', '/health/'],
    ['GET', '/coins/%E0%A4%A'],
    ['GET', '/%'],
    ['GET', '/venues/other/currencies'],
    ['GET', '/api/agent/echo'],
    ['POST', '/'],
    ['POST', '/rankings'],
    ['POST', '/coins/x'],
  ])('%s %s meets no route', async (method, path) => {
    const reply = await api.request(method, path);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual({ error: `no route for ${method} ${path}` });
  });

  test('the path of an unknown route is told without its query', async () => {
    expect((await api.request('GET', '/x?token=1')).body).toEqual({ error: 'no route for GET /x' });
  });
});

describe('bodies', () => {
  const post = (body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    api.request('POST', '/api/agent/echo', { body, headers });

  test('a POST’s JSON reaches its route, and its headers the client; what is no JSON is undefined', async () => {
    const reply = await post('{"a":[1]}');
    expect(reply.body).toMatchObject({ body: { a: [1] } });
    expect(reply.headers.get('x-kept')).toBe('yes');
    expect(reply.headers.get('cache-control')).toBe('no-store');
    for (const broken of ['', '{', Uint8Array.of(34, 255, 34)]) {
      expect((await post(broken)).body).toMatchObject({ body: 'none' });
    }
  });

  test('16 KiB pass, one byte more is 413, also without a length in its headers', async () => {
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
    const streamed = await api.request('POST', '/api/agent/echo', {
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect(streamed.status).toBe(413);
  });

  test('a client that goes away in mid-body harms nobody', async () => {
    const { hostname, port } = new URL(api.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write('POST /api/agent/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
        socket.end();
      });
      socket.on('data', () => undefined);
      socket.on('close', () => resolve());
    });
    expect((await api.get('/health')).status).toBe(200);
  });

  test.each([
    ['9.9.9.9, 1.2.3.4', '1.2.3.4'],
    ['1.2.3.4:5678', '1.2.3.4'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['[2001:db8::1]:443', '2001:db8:0:0::/64'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['garbage', '127.0.0.1'],
  ])('behind one proxy, a client forwarded as %s counts as %s', async (header, address) => {
    expect((await post('1', { 'x-forwarded-for': header })).body).toMatchObject({ clientAddress: address });
  });
});

describe('shared answers', () => {
  test('an unchanged answer is 304 to a client that has it', async () => {
    const path = `/coins/${key('coin')}`;
    const etag = (await api.get(path)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    const again = await api.get(path, { 'if-none-match': `"other", W/${etag}` });
    expect([again.status, again.text]).toEqual([304, '']);
    expect(again.headers.get('access-control-allow-origin')).toBe('*');
    expect((await api.get(path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('one question is asked once while nothing is applied, in whatever way it is put', async () => {
    await api.insert('applied', [appliedRow('transactions', 0, { log_offset: '77' })]);
    queries = 0;
    await Promise.all(Array.from({ length: 20 }, () => api.get('/origins')));
    await api.get('/origins?unknown=1');
    expect(queries).toBe(1);
    await api.insert('applied', [appliedRow('transactions', 0, { log_offset: '78' })]);
    await api.get('/origins');
    expect(queries).toBe(2);
  });

  test('a 404 is shared too', async () => {
    await api.insert('applied', [appliedRow('transactions', 0, { log_offset: '79' })]);
    queries = 0;
    for (let count = 0; count < 5; count += 1) await api.get(`/coins/${key('nobody')}`);
    expect(queries).toBe(1);
  });
});

describe('while the store is down', () => {
  test('/ and /health answer', async () => {
    for (const path of ['/', '/health']) {
      expect((await down.get(path)).body).toEqual({ ok: true, service: 'test-indexer' });
    }
  });

  test('a read is 500 with a detail that holds no secret', async () => {
    const reply = await down.get<{ error: string; detail: string }>(`/coins/${key('coin')}`);
    expect(reply.status).toBe(500);
    expect(reply.body.error).toBe('internal error');
    expect(reply.body.detail).toContain('ECONNREFUSED http://db.internal:8123');
    for (const secret of ['hunter2', 'reader', 'abc', 't0ps3cret']) expect(reply.text).not.toContain(secret);
  });
});

describe('hostile queries', { timeout: 60_000 }, () => {
  const seed = Number(process.env.FC_SEED ?? 20_261_121);
  const known = [
    'sort',
    'order',
    'limit',
    'offset',
    'mode',
    'origin',
    'model',
    'quote',
    'locked',
    'paused',
    'search',
  ];
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom(
      "'",
      "' OR 1=1 --",
      '\\',
      '\0',
      '\n\t',
      '{x:String}',
      '\ud800',
      '𝒳',
      '%',
      '_',
      '[]',
      '-0',
      '1e9',
      'NaN',
      'true',
    ),
    fc.integer().map(String),
    fc.string({ minLength: 1000, maxLength: 1500 }),
  );
  const paths = [
    '/rankings',
    '/quotes',
    '/coins/x/activity',
    `/coins/${key('coin')}/activity`,
    `/coins/${key('coin')}/posts`,
  ];

  test(`are never a 500 (seed ${seed})`, async () => {
    const query = fc.array(fc.tuple(fc.constantFrom(...known), text), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), query, async (path, pairs) => {
        const { status } = await api.get(
          `${path}?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value.toWellFormed()]))}`,
        );
        expect([200, 400, 404, 431]).toContain(status);
      }),
      { seed, numRuns: 300, endOnFailure: true },
    );
  });

  test(`nor is a search through any text (seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(text, async (search) => {
        const encoded = encodeURIComponent(search.toWellFormed());
        for (const path of ['/rankings?sort=profit&search=', '/quotes?search=']) {
          expect([200, 431]).toContain((await api.get(path + encoded)).status);
        }
      }),
      { seed, numRuns: 150, endOnFailure: true },
    );
  });

  test(`nor is any path below /coins (seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(text, async (mint) => {
        const { status } = await api.request('GET', `/coins/${encodeURIComponent(mint.toWellFormed())}`);
        expect([404, 431]).toContain(status);
      }),
      { seed, numRuns: 150, endOnFailure: true },
    );
  });

  test('escapes that are broken only in the query fall back as any other text does', async () => {
    expect((await api.get('/rankings?search=%E0%A4%A&limit=%')).status).toBe(200);
  });
});

describe('the OpenAPI page', () => {
  test('describes every route of the table, the agent’s too, with its parameters and answers', async () => {
    const { body } = await api.get<{
      paths: Record<string, Record<string, { parameters: { name: string }[]; responses: object }>>;
    }>('/openapi.json');
    expect(Object.keys(body.paths)).toEqual([
      '/',
      '/health',
      '/status',
      '/origins',
      '/models',
      '/quotes',
      '/coins/{mint}',
      '/coins/{mint}/positions',
      '/coins/{mint}/fees',
      '/coins/{mint}/loop',
      '/coins/{mint}/activity',
      '/coins/{mint}/holders',
      '/coins/{mint}/posts',
      '/rankings',
      '/analytics',
      '/venues/options_x/currencies',
      '/api/agent/echo',
      '/openapi.json',
    ]);
    const parameters = body.paths['/rankings']?.get?.parameters.map((parameter) => parameter.name);
    expect(parameters).toEqual(known());
    expect(Object.keys(body.paths['/coins/{mint}']?.get?.responses ?? {})).toEqual(['200', '404', '500']);
    expect(JSON.stringify(body)).not.toContain('$id');
  });

  const known = () => [
    'sort',
    'order',
    'limit',
    'offset',
    'mode',
    'origin',
    'model',
    'quote',
    'locked',
    'paused',
    'search',
  ];
});
