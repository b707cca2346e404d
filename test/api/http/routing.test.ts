import type { Context } from 'koa';
import { expect, test } from 'vitest';
import { routing } from '../../../api/http/routing.ts';

const PATHS = [
  '/',
  '/health',
  '/coins/:mint',
  '/coins/:mint/fees',
  '/coins/:mint/loop',
  '/api/agent/posts',
  '/api/agent/options/open',
  '/images/:mint/:size',
  '/images/newest/all',
  '/pages',
  '/pages/{*path}',
];

const route = routing(PATHS.map((path) => ({ path, method: 'GET' })) as never, ({ path }) => (ctx) => {
  ctx.body = { path, params: ctx.params };
});

async function asked(path: string, method = 'GET') {
  const ctx = { path, method, request: {} } as Context;
  await route(ctx, async () => {
    ctx.body = 'none';
  });
  return ctx.body as unknown;
}

test.each([
  ['/', '/', {}],
  ['/health', '/health', {}],
  ['/coins/M', '/coins/:mint', { mint: 'M' }],
  ['/coins/fees', '/coins/:mint', { mint: 'fees' }],
  ['/coins/M/fees', '/coins/:mint/fees', { mint: 'M' }],
  ['/coins/M/loop', '/coins/:mint/loop', { mint: 'M' }],
  ['/coins/%4D/loop', '/coins/:mint/loop', { mint: 'M' }],
  ['/api/agent/posts', '/api/agent/posts', {}],
  ['/api/agent/options/open', '/api/agent/options/open', {}],
  ['/images/M/large', '/images/:mint/:size', { mint: 'M', size: 'large' }],
  ['/pages', '/pages', {}],
  ['/pages/a/b/c', '/pages/{*path}', { path: 'a/b/c' }],
])('%s is routed to %s', async (path, by, params) => {
  expect(await asked(path)).toEqual({ path: by, params });
});

test('a path with a broken percent-escape matches only a wildcard route', async () => {
  expect(await asked('/coins/%zz/fees')).toBe('none');
  expect(await asked('/pages/%zz')).toEqual({ path: '/pages/{*path}', params: { path: '%zz' } });
});

test.each([
  '/none',
  '/coins',
  '/coins/',
  '/coins/M/',
  '/coins/M/none',
  '/coins/M/fees/',
  '/coins/M/fees/more',
  '/coins/M/FEES',
  '/coins/M/f%65es',
  '/api/agent',
  '/api/agent/none',
  '/api/agent/options/none',
  '/images/M',
  '//coins/M',
])('%s matches no route', async (path) => {
  expect(await asked(path)).toBe('none');
});

test('a known path with another method matches no route', async () => {
  expect(await asked('/coins/M/fees', 'POST')).toBe('none');
});
