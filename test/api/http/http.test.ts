import net from 'node:net';
import { text } from 'node:stream/consumers';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AgentParts } from '../../../api/agent/agent-parts.ts';
import { agentRoutes } from '../../../api/agent/routes.ts';
import { openApi } from '../../../api/http/openapi.ts';
import type { Route } from '../../../api/http/route.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { key } from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

const refused = async () => {
  throw new Error(
    'connect ECONNREFUSED http://reader:hunter2@db.internal:8123/x?key=abc with token t0ps3cret',
  );
};
const failing: Store = {
  database: 'gone',
  query: refused,
  lines: refused,
  insert: async () => undefined,
  command: async () => undefined,
  close: async () => undefined,
};

const echo: Route = {
  method: 'POST',
  path: '/api/agent/echo',
  summary: 'Says yes.',
  body: Type.Unknown(),
  responses: { 200: Type.Unknown() },
  cached: false,
  handler: async () => ({ status: 200, body: {} }),
};

const PAGES = ['/explorer/', '/explorer/coins/{mint}', '/explorer/protocol', '/explorer/registries'];

const held = useApi(undefined, { agentRoutes: [echo] });
let down: TestApi;

beforeAll(async () => {
  down = await startApi(failing, { secrets: ['t0ps3cret'], streamLimits: { most: 0 } });
});
afterAll(() => down.close());

describe('the format of responses', () => {
  test('a response is JSON indented by two spaces with a newline at the end, open to every origin', async () => {
    const reply = await held.api.get('/health');
    expect(reply.text).toBe('{\n  "ok": true,\n  "service": "test-indexer"\n}\n');
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    // The only headers that pages of other origins can read.
    expect(reply.headers.get('access-control-expose-headers')?.split(', ')).toEqual([
      ...['Age', 'ETag', 'Link', 'Retry-After', 'WWW-Authenticate'],
    ]);
  });

  test('every error is JSON in the same format, open to every origin, and sent with nosniff', async () => {
    for (const path of ['/nowhere', '/coins/<script>', '/rankings?sort=x']) {
      const reply = await held.api.request('GET', path);
      expect(reply.text).toBe(`${JSON.stringify(reply.body, null, 2)}\n`);
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('the response headers name no version and no framework', async () => {
    const { headers } = await held.api.get('/status');
    for (const [name, value] of headers)
      expect(`${name}: ${value}`).not.toMatch(/version|koa|express|x-powered-by/i);
  });
});

describe('methods and paths', () => {
  test.each(['PUT', 'DELETE', 'PATCH', 'PROPFIND', 'QUERY'])('%s is 405 on any path', async (method) => {
    for (const path of ['/health', '/nowhere', '/api/agent/posts']) {
      const reply = await held.api.request(method, path);
      expect(reply.status).toBe(405);
      expect(reply.body).toEqual({
        error: 'method not allowed; this API answers GET and the three /api/agent/* POSTs',
      });
    }
  });

  test.each([
    ['CONNECT example.com:443', 405],
    ['FOO /health', 405],
    ['\u0001 /health', 400],
    ['GET /health HTTP/9.9\r\n', 400],
    ['GET /health HTTP/1.1\r\nX: no host\r\n\r\nGET /', 400],
    ['GET /health HTTP/1.1\r\nExpect: tea\r\nX:', 417],
  ])(
    'the raw request %j, which reaches no route, is answered with an error as JSON',
    async (line, status) => {
      const { port } = new URL(held.api.url);
      const socket = net.connect(Number(port), '127.0.0.1');
      socket.write(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const [head, body] = (await text(socket)).split('\r\n\r\n') as [string, string];
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\nAccess-Control-Allow-Origin: \\*\r\n`));
      expect(body).toBe(`${JSON.stringify(JSON.parse(body), null, 2)}\n`);
      if (status === 405) expect(head).toContain('\r\nAllow: GET, POST, OPTIONS\r\n');
    },
  );

  test.each([
    ['PUT', 405],
    ['HEAD', 405],
    ['OPTIONS', 204],
    ['GET', 404],
    ['POST', 404],
  ])('%s with a request target that is not a valid URL is %i', async (method, status) => {
    const { port } = new URL(held.api.url);
    const socket = net.connect(Number(port), '127.0.0.1');
    socket.write(`${method} http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(
      new RegExp(`^HTTP/1.1 ${status} [^]*\r\nAccess-Control-Allow-Origin: \\*\r\n`),
    );
  });

  test('HEAD is 405', async () => {
    expect((await held.api.request('HEAD', '/health')).status).toBe(405);
  });

  test('OPTIONS is 204 with the methods and headers that are allowed', async () => {
    const { status, headers, text } = await held.api.request('OPTIONS', '/api/agent/posts');
    expect([status, text]).toEqual([204, '']);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-methods')).toBe('GET, POST, OPTIONS');
    expect(headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(headers.get('access-control-allow-headers')).toContain('Content-Type');
    expect(headers.get('access-control-allow-headers')).toContain('Last-Event-ID');
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
    ['POST', '/'],
    ['POST', '/rankings'],
    ['POST', '/coins/x'],
  ])('%s %s is 404, as no route matches', async (method, path) => {
    const reply = await held.api.request(method, path);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual({ error: `no route for ${method} ${path}` });
  });

  test('the 404 of an unknown route names its path without the query', async () => {
    expect((await held.api.request('GET', '/x?token=1')).body).toEqual({ error: 'no route for GET /x' });
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
    expect(reply.body.detail).toContain('connect ECONNREFUSED');
    for (const secret of ['hunter2', 'reader', 'abc', 't0ps3cret', 'db.internal'])
      expect(reply.text).not.toContain(secret);
  });
});

describe('the OpenAPI page', () => {
  test('describes every route of the table and the agent’s, with parameters and response codes', async () => {
    const { body } = await held.api.get<{
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
      '/coins/{mint}/history',
      '/coins/{mint}/holders',
      '/coins/{mint}/posts',
      '/rankings',
      '/analytics',
      '/analytics/history',
      '/venues/options_x/currencies',
      '/stream/activity',
      '/stream/posts',
      '/stream/rankings',
      '/api/agent/echo',
      '/explorer/decimals',
      '/openapi.json',
      ...PAGES,
    ]);
    const parameters = body.paths['/rankings']?.get?.parameters.map((parameter) => parameter.name);
    expect(parameters).toEqual(known());
    expect(Object.keys(body.paths['/coins/{mint}']?.get?.responses ?? {})).toEqual([
      '200',
      '304',
      '404',
      '500',
      '503',
    ]);
    expect(Object.keys(body.paths['/health']?.get?.responses ?? {})).toEqual(['200', '500']);
    // All routes but those that never wait, and this test's own, declare 503.
    const neverBusy = Object.entries(body.paths).filter(([, operations]) =>
      Object.values(operations).some(({ responses }) => !('503' in responses)),
    );
    expect(neverBusy.map(([path]) => path)).toEqual(['/', '/health', '/api/agent/echo', ...PAGES]);
    expect(JSON.stringify(body)).not.toContain('$id');
  });

  test('describes the pages of the explorer as text/html, with the address that each of them answers at', async () => {
    type Operation = { parameters: { name: string }[]; responses: Record<string, { content: object }> };
    const { body } = await held.api.get<{ paths: Record<string, { get: Operation }> }>('/openapi.json');
    for (const path of PAGES) {
      const { parameters, responses } = (body.paths[path] as { get: Operation }).get;
      expect(parameters.map(({ name }) => name)).toEqual(path.includes('{mint}') ? ['mint'] : []);
      expect(responses['200']?.content).toEqual({ 'text/html': { schema: { type: 'string' } } });
      const reply = await held.api.request('GET', path.replace('{mint}', key('a mint')));
      expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    }
  });

  test('documents Last-Event-ID and the 503 of streams, and marks required parameters as required', async () => {
    interface Operation {
      parameters: { name: string; in: string; required: boolean }[];
      responses: Record<string, { content: Record<string, { schema: object }> }>;
    }
    const { body } = await held.api.get<{ paths: Record<string, { get: Operation }> }>('/openapi.json');
    const { get } = body.paths['/explorer/decimals'] as { get: Operation };
    expect(get.parameters).toMatchObject([{ name: 'mints', in: 'query', required: true }]);
    expect(Object.keys(get.responses)).toEqual(['200', '304', '400', '500', '503']);
    for (const path of ['/stream/activity', '/stream/posts', '/stream/rankings']) {
      const { parameters, responses } = (body.paths[path] as { get: Operation }).get;
      expect(parameters).toContainEqual(
        expect.objectContaining({ name: 'Last-Event-ID', in: 'header', required: false }),
      );
      expect(parameters.filter(({ required }) => required)).toEqual([]);
      expect(responses['503']?.content).toEqual({
        'application/json': { schema: { $ref: '#/components/schemas/Busy' } },
      });
      const reply = await down.request('GET', path);
      expect([reply.status, reply.body]).toEqual([503, { error: expect.any(String), code: 'busy' }]);
    }
  });

  test('tells the routedToLp of totals from the routedToLp of days, and says what profitSwept counts', async () => {
    interface Schema {
      description?: string;
      properties: Record<string, Schema>;
      items: Schema;
    }
    type Answer = { get: { responses: { 200: { content: { 'application/json': { schema: Schema } } } } } };
    const { body } = await held.api.get<{ paths: Record<string, Answer> }>('/openapi.json');
    const answerOf = (path: string) =>
      (body.paths[path] as Answer).get.responses[200].content['application/json'].schema.properties;
    const { protocolTotals, revenueByDayTimeSeries: days } = answerOf('/analytics');
    const compounded = /^What compound_lp put into the pool of the token\. Not what route earmarked/;
    for (const of of [answerOf('/coins/{mint}').counters, protocolTotals?.properties.byQuote?.items])
      expect(of?.properties.routedToLp?.description).toMatch(compounded);
    for (const day of [days?.items, days?.items.properties.byQuote?.items]) {
      expect(day?.properties.routedToLp?.description).toMatch(
        /^What route earmarked .* Not what compound_lp/,
      );
      expect(day?.properties.profitSwept?.description).toMatch(/^Profit above .* Not what left the bankroll/);
    }
  });

  test('declares fixed sets of strings as enum and a constant true as boolean, as generated clients need', async () => {
    type Named = { components: { schemas: Record<string, { properties: Record<string, object> }> } };
    const { body } = await held.api.get<Named>('/openapi.json');
    const agents = openApi('x', agentRoutes({} as AgentParts)) as unknown as Named;
    const isWord = (value: unknown) => typeof (value as { const?: unknown } | null)?.const === 'string';
    const odd: unknown[] = [];
    JSON.stringify([body, agents], (key, value) => {
      if (key === 'anyOf' && (value as unknown[]).every(isWord)) odd.push(value);
      if (key === 'const' && typeof value === 'boolean') odd.push({ const: value });
      return value;
    });
    expect(odd).toEqual([]);
    const { Figure } = body.components.schemas;
    expect(Figure?.properties.absent).toEqual({
      type: 'boolean',
      description: 'True if the value is null because it cannot be determined; otherwise left out.',
    });
    const { AgentPost, Refusal } = agents.components.schemas;
    expect(AgentPost?.properties.kind).toEqual({
      type: 'string',
      enum: ['thesis', 'trade', 'update', 'exit', 'idle'],
    });
    expect(Refusal?.properties.code).toMatchObject({
      type: 'string',
      enum: expect.arrayContaining(['invalid_request', 'not_the_agent', 'busy']),
    });
  });

  test('says which routes take a bearer token', () => {
    const { paths } = openApi('x', agentRoutes({} as AgentParts)) as {
      paths: Record<string, Record<string, { security?: unknown }>>;
    };
    const secured = Object.entries(paths).filter(([, methods]) =>
      Object.values(methods).some(({ security }) => security !== undefined),
    );
    expect(secured.map(([path]) => path.replace('/api/agent/', ''))).toEqual([
      ...['posts', 'options/open', 'options/positions', 'options/close'],
    ]);
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
