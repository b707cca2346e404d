import { createHook } from 'node:async_hooks';
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../api/app.ts';
import { type Listening, listen } from '../../api/http/listen.ts';
import { createLatest } from '../../api/latest/latest.ts';
import type { Store } from '../../clickhouse/client.ts';
import { SETTINGS } from '../api/support/api.ts';

const PAGES = ['/explorer/', '/explorer/coins/anything', '/explorer/protocol', '/explorer/registries'];
const MOST_SCRIPT = 150_000;

let api: Listening;
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${api.port}${path}`, { headers, redirect: 'manual' });

/** Pages are made from files alone: the store must not be queried. */
const noStore = (): Store => {
  throw new Error('no store');
};

beforeAll(async () => {
  const app = createApp({
    latest: createLatest({ currentStore: noStore, clock: Date.now }),
    settings: { ...SETTINGS, serviceName: 'a <service>' },
    clock: Date.now,
  });
  api = await listen(app, '127.0.0.1', 0);
});
afterAll(() => api.close());

const filesOf = (page: string) =>
  [...page.matchAll(/(?:src|href)="([^"]+)"/g)]
    .map(([, at]) => at as string)
    .filter((at) => at.includes('/assets/'));

test('a file is compressed once, when first requested compressed; no file is before that', async () => {
  let packed = 0;
  const init = (_id: number, type: string) => {
    if (type === 'ZLIB') packed += 1;
  };
  const watched = createHook({ init }).enable();
  const [file = ''] = filesOf(await (await get('/explorer/', { 'Accept-Encoding': 'identity' })).text());
  expect(packed).toBe(0);
  // This client does not decompress.
  const ask = () =>
    new Promise((answered) => {
      const headers = { 'accept-encoding': 'br' };
      http.get({ port: api.port, path: file, headers }, (reply) => {
        reply.resume().once('end', () => answered(reply.headers['content-encoding']));
      });
    });
  expect([await ask(), await ask()]).toEqual(['br', 'br']);
  watched.disable();
  expect(packed).toBe(1);
});

describe('a page of the explorer', () => {
  test.each(PAGES)(
    '%s is HTML at its own address, with nothing inline and nothing from another host',
    async (path) => {
      const reply = await get(path);
      expect(reply.status).toBe(200);
      expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = reply.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
      expect(policy).not.toMatch(/unsafe|http|\*|data:|nonce/);
      const page = await reply.text();
      expect(page).not.toMatch(/<style|style=|\son\w+=|javascript:|https?:/i);
      expect(page.match(/<script/g)).toHaveLength(1);
      expect(page).toMatch(
        /<script type="module" src="\/explorer\/assets\/main-ts\.[0-9a-f]{16}\.js"><\/script>/,
      );
      expect(page).toContain('a &lt;service&gt;');
    },
  );

  test('is a 304 for a client that sends its ETag', async () => {
    const { headers } = await get('/explorer/');
    const again = await get('/explorer/', { 'If-None-Match': headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  test.each([
    ['/explorer', '/explorer/'],
    ['/explorer?quote=a&mode=Agent', '/explorer/?quote=a&mode=Agent'],
    ['/explorer?//elsewhere.example/%0d%0aa:b', '/explorer/?%2F%2Felsewhere.example%2F%0D%0Aa%3Ab='],
  ])('is redirected from /explorer to /explorer/, with its query: %s', async (path, meant) => {
    const reply = await get(path);
    expect([reply.status, reply.headers.get('location')]).toEqual([308, meant]);
  });

  test.each([
    ['/explorer/protocol/', '/explorer/protocol'],
    ['/explorer/registries/?a=b%20c', '/explorer/registries?a=b+c'],
    ['/explorer/coins/a%20b/', '/explorer/coins/a%20b'],
    ['/explorer//', '/explorer/'],
  ])('is redirected to the address without a trailing slash: %s', async (path, meant) => {
    const reply = await get(path);
    expect([reply.status, reply.headers.get('location')]).toEqual([308, meant]);
  });

  // A response head of 4 kB is more than a load balancer takes.
  test('is redirected to an address of at most 2,000 characters, else its query is dropped or the answer is a 404', async () => {
    const found = async (path: string) => {
      const reply = await get(path);
      return [reply.status, reply.headers.get('location')];
    };
    const most = `ab=${'%25'.repeat(662)}`;
    expect(`/explorer/?${most}`).toHaveLength(2_000);
    expect(await found(`/explorer?${most}`)).toEqual([308, `/explorer/?${most}`]);
    expect(await found(`/explorer?${most}c`)).toEqual([308, '/explorer/']);
    expect(await found(`/explorer/protocol/?${most}`)).toEqual([404, null]);
    // One letter is nine characters in an encoded URL.
    const name = encodeURIComponent('€'.repeat(220));
    expect(await found(`/explorer/coins/${name}/`)).toEqual([308, `/explorer/coins/${name}`]);
    expect(await found(`/explorer/coins/${name}%E2%82%AC/`)).toEqual([404, null]);
  });

  test('is where / sends browsers by a Refresh header, beside a JSON body that is the same for everybody', async () => {
    const [browser, client] = [await get('/', { accept: 'text/html,*/*;q=0.8' }), await get('/')];
    expect(browser.headers.get('refresh')).toBe('0; url=/explorer/');
    expect(client.headers.get('refresh')).toBeNull();
    for (const reply of [browser, client]) {
      expect([reply.status, reply.headers.get('content-type'), reply.headers.get('vary')]).toEqual([
        ...[200, 'application/json; charset=utf-8', 'Accept'],
      ]);
      expect(await reply.json()).toEqual({ ok: true, service: 'a <service>' });
    }
  });

  test('that does not exist is a 404: JSON, or a page for a client that accepts HTML', async () => {
    const broken = ['/explorer/coins/%E0%A4', '/explorer/%'];
    for (const path of ['/explorer/nowhere', '/explorer/coins/', '/explorer/coins/one/two', ...broken]) {
      const reply = await get(path);
      expect([reply.status, await reply.json()]).toEqual([404, { error: `no route for GET ${path}` }]);
      const page = await get(path, { accept: 'text/html,*/*;q=0.8' });
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      // One URL has two answers: caches must know by which header.
      expect([reply, page].map(({ headers }) => headers.get('vary'))).toEqual(['Accept', 'Accept']);
      expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /);
      expect(await page.text()).toContain('<title>No page · a &lt;service&gt;</title>');
    }
  });
});

describe('the files of the explorer', () => {
  test('exist and are immutable, and all scripts together are below 150 kB compressed, lazy ones included', async () => {
    const files = new Set(filesOf(await (await get('/explorer/')).text()));
    expect(files.size).toBeGreaterThan(20);
    let script = 0;
    // Imports of a module are added to the list while it is iterated.
    for (const file of files) {
      const reply = await get(file, { 'Accept-Encoding': 'gzip' });
      expect([file, reply.status, reply.headers.get('cache-control')]).toEqual([
        file,
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
      if (!file.endsWith('.js')) continue;
      script += Number(reply.headers.get('content-length'));
      for (const [, name] of (await reply.text()).matchAll(/["']\.\/([\w.-]+\.js)["']/g))
        files.add(`/explorer/assets/${name}`);
    }
    expect([...files].filter((file) => file.includes('uplot'))).not.toEqual([]);
    expect(script).toBeLessThan(MOST_SCRIPT);
  });

  test.each([
    ['identity', null],
    ['gzip', 'gzip'],
    ['br, gzip', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0', null],
  ])('are the same bytes under each Accept-Encoding: %s', async (accepted, encoding) => {
    const [, entry = ''] = /src="([^"]+)"/.exec(await (await get('/explorer/')).text()) ?? [];
    const plain = await get(entry, { 'Accept-Encoding': 'identity' });
    // fetch has unpacked it already.
    const reply = await get(entry, { 'Accept-Encoding': accepted });
    expect([reply.headers.get('content-encoding'), reply.headers.get('vary')]).toEqual([
      encoding,
      'Accept-Encoding',
    ]);
    expect(await reply.text()).toBe(await plain.text());
  });

  test('import nothing but each other', async () => {
    const files = filesOf(await (await get('/explorer/')).text());
    for (const file of files.filter((name) => name.endsWith('.js'))) {
      const text = await (await get(file)).text();
      expect(text).not.toMatch(/sourceMappingURL/);
      for (const [, specifier] of text.matchAll(/\bfrom\s*["']([^"']+)["']/g))
        expect(files).toContain(`/explorer/assets/${specifier?.slice(2)}`);
    }
  });

  test('under an unknown name are a 404', async () => {
    expect((await get('/explorer/assets/main.js')).status).toBe(404);
    expect((await get('/explorer/assets/..%2f..%2fpackage.json')).status).toBe(404);
  });
});
