import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readDocument } from '../../../ingest/poll/venues/document.ts';
import { shownImage } from '../../../ingest/poll/venues/image.ts';
import { nameLookup } from '../../../ingest/poll/venues/name-lookup.ts';
import { isPublicAddress } from '../../../ingest/poll/venues/public-address.ts';
import { siteOf } from '../../../ingest/poll/venues/site.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { redactSecretsOf } from '../../../runtime/config/secrets.ts';
import { documentUrl } from '../../../schemas/venues/metadata.ts';
import { PATIENCE_MS } from '../../support/awaited.ts';
import { BOMB } from '../../support/unkind-http.ts';
import { nameServer } from './support/name-server.ts';

const { signal } = new AbortController();
let base = '';
let hits = 0;

const DOCUMENT = Buffer.from(JSON.stringify({ image: 'https://images.example/a.png' }));
/** Documents of hosts that send what they have stored, whatever encoding is asked for. */
const STORED: Record<string, [coding: string, bytes: Buffer]> = {
  '/gzip': ['gzip', gzipSync(DOCUMENT)],
  '/x-gzip': ['X-Gzip', gzipSync(DOCUMENT)],
  '/deflate': ['deflate', deflateSync(DOCUMENT)],
  '/br': ['br', brotliCompressSync(DOCUMENT)],
  '/identity': ['identity', DOCUMENT],
  '/bomb': ['gzip', BOMB],
  '/cut-gzip': ['gzip', gzipSync(DOCUMENT).subarray(0, 20)],
  '/no-gzip': ['gzip', DOCUMENT],
  '/twice': ['gzip, br', brotliCompressSync(gzipSync(DOCUMENT))],
};

const server = http.createServer((request, response) => {
  hits += 1;
  const answers: Record<string, () => void> = {
    '/good': () => response.end(JSON.stringify({ image: 'https://images.example/a.png' })),
    '/large': () => response.end(`{"image":"${'x'.repeat(10_000_000)}"}`),
    '/loop': () => response.writeHead(302, { location: '/loop' }).end(),
    '/text': () => response.end('<html>'),
    '/control': () => response.end(JSON.stringify({ image: 'java\u0000script:alert(1)' })),
    '/script': () => response.end(JSON.stringify({ image: 'javascript:alert(1)' })),
    '/long': () => response.end(JSON.stringify({ image: `https://x.example/${'a'.repeat(1_000_000 / 8)}` })),
    '/list': () => response.end('[1,2,3]'),
    '/null': () => response.end('null'),
    '/drip': () => response.writeHead(200).write('{"image":'),
    '/hang': () => {},
    // Each answer comes within the limit, but all of them together do not.
    '/slow-loop': () =>
      AbortSignal.timeout(ENDLESS_MS * 0.6).addEventListener('abort', () =>
        response.writeHead(302, { location: '/slow-loop' }).end(),
      ),
    '/cut': () =>
      response.writeHead(200, { 'content-length': '100' }).write('{', () => request.socket.destroy()),
    '/switch': () =>
      void request.socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      ),
    '/named': () =>
      response.end(JSON.stringify({ name: 'x'.repeat(1_000_000), image: 'https://x.example/a' })),
    '/gone': () => response.writeHead(404).end(),
    ...Object.fromEntries(
      Object.entries(STORED).map(([path, [coding, bytes]]) => [
        path,
        () => response.writeHead(200, { 'content-encoding': coding }).end(bytes),
      ]),
    ),
    '/to-file': () => response.writeHead(301, { location: 'file:///etc/passwd' }).end(),
  };
  (answers[request.url ?? ''] ?? answers['/gone'])?.();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Timeout of documents that never end; all others are waited for as long as they take. */
const ENDLESS_MS = 500;
const ENDLESS = ['/drip', '/hang', '/slow-loop'];

const read = async (uri: string, allowPrivate = true) => {
  const timeoutMs = ENDLESS.some((path) => uri.endsWith(path)) ? ENDLESS_MS : PATIENCE_MS;
  const options = { ipfsGateway: null, allowPrivate, signal, timeoutMs };
  const { reading } = await readDocument('mint', uri, options);
  if (reading.type !== 'metadata') throw new Error('no metadata reading');
  return reading;
};

describe('a metadata document', () => {
  test('gives its image', async () => {
    expect(await read(`${base}/good`)).toMatchObject({
      imageUrl: 'https://images.example/a.png',
      error: null,
    });
  });

  test.each([
    ['/large', /over 262144 bytes/],
    ['/switch', /answered 101/],
    ['/loop', /over 3 redirects/],
    ['/text', /not JSON/],
    ['/control', /image is no URL|scheme/],
    ['/script', /scheme javascript:/],
    ['/long', /image is no URL/],
    ['/list', /no object/],
    ['/null', /no object/],
    ['/gone', /answered 404/],
    ['/named', /over 262144 bytes/],
    ['/drip', /^timed out$/],
    ['/hang', /^timed out$/],
    ['/slow-loop', /^timed out$/],
    ['/cut', /^connection lost$/],
    ['/to-file', /scheme file:/],
    ['/bomb', /over 262144 bytes/],
    ['/cut-gzip', /^not JSON$/],
    ['/twice', /^not JSON$/],
  ])('gives no image, but the reason, if it is hostile or broken (%s)', async (path, reason) => {
    const { imageUrl, error } = await read(base + path);
    expect(imageUrl).toBeNull();
    expect(error).toMatch(reason);
  });

  test.each(['/gzip', '/x-gzip', '/deflate', '/br', '/identity', '/no-gzip'])(
    'is read if its host declares it as encoded, even wrongly (%s)',
    async (path) => {
      const image = { imageUrl: 'https://images.example/a.png', error: null };
      expect(await read(base + path)).toMatchObject(image);
    },
  );

  test('is requested with accept-encoding: identity', async () => {
    const asked: (string | undefined)[] = [];
    const host = http.createServer(({ headers }, response) => {
      asked.push(headers['accept-encoding']);
      response.end(DOCUMENT);
    });
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    await read(`http://127.0.0.1:${(host.address() as AddressInfo).port}/`);
    expect(asked).toEqual(['identity']);
    host.close();
  });

  test.each([
    'https://127.0.0.1/x.json',
    'https://[::1]/x.json',
    'https://[::ffff:10.0.0.1]/x.json',
    'https://localhost/x.json',
    'https://[::ffff:7f00:1]/x.json',
    'https://metadata.google.internal/computeMetadata/v1/',
    'https://168.63.129.16/machine',
    'https://169.254.169.254/latest',
  ])('is not requested at a private address (%s)', async (uri) => {
    const before = hits;
    expect((await read(uri, false)).error).toMatch(/private address|no such host/);
    expect(hits).toBe(before);
  });

  test('is requested without the gateway’s login once a redirect leaves the gateway’s documents', async () => {
    const logins: (string | undefined)[] = [];
    const gateway = http.createServer(({ url, headers }, response) => {
      logins.push(headers.authorization);
      const next = { '/key/ipfs/a': '/key/ipfs/a/', '/key/ipfs/a/': '/key/api', '/key/api': '/admin' }[
        url ?? ''
      ];
      if (next === undefined) response.end(JSON.stringify({ image: 'https://images.example/a.png' }));
      else response.writeHead(302, { location: next }).end();
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    const { port } = gateway.address() as AddressInfo;
    const ipfsGateway = `http://user:mark@127.0.0.1:${port}/key`;
    const { reading } = await readDocument('mint', 'ipfs://a', { ipfsGateway, allowPrivate: true, signal });
    const own = `Basic ${Buffer.from('user:mark').toString('base64')}`;
    expect(logins).toEqual([own, own, undefined, undefined]);
    expect(reading).toMatchObject({ imageUrl: 'https://images.example/a.png', error: null });
    gateway.close();
  });

  test('is refused over plain http where private addresses are not allowed', async () => {
    expect((await read(`${base}/good`, false)).error).toBe('the metadata uri has the scheme http:');
  });

  test('is not read from ipfs without IPFS_GATEWAY, and the reason says so', async () => {
    expect((await read('ipfs://bafy')).error).toBe('the metadata is on ipfs and IPFS_GATEWAY is not set');
  });
});

test.each(['http://192.168.0.1/x', 'http://[::ffff:c0a8:1]/x', 'https://0x7f.1/x', 'http://router.local/x'])(
  'an image at %s is served only where private addresses are allowed',
  (image) => {
    const shown = (allowPrivate: boolean) => shownImage(image, { ipfsGateway: null, allowPrivate });
    expect(shown(false)).toEqual({ reason: 'the image is at a private address' });
    expect(shown(true)).toEqual({ url: new URL(image).href });
  },
);

test('an image over plain http at a public host is served, though a document there is not read', async () => {
  const at = 'http://images.example/a.png';
  expect(shownImage(at, { ipfsGateway: null, allowPrivate: false })).toEqual({ url: at });
  expect((await read(at, false)).error).toBe('the metadata uri has the scheme http:');
});

test('an image on ipfs is served without the gateway’s login, and not at all if the gateway’s URL holds a key', () => {
  const at = (ipfsGateway: string) => shownImage('ipfs://bafy/a.png', { ipfsGateway, allowPrivate: false });
  expect(at('https://user:mark@gateway.example')).toEqual({
    url: 'https://gateway.example/ipfs/bafy/a.png',
  });
  const gateway = 'https://gateway.example/a-key-of-some-length';
  redactSecretsOf(readConfig({ IPFS_GATEWAY: gateway }));
  expect(at(gateway)).toEqual({ reason: 'the image stands behind a key of IPFS_GATEWAY' });
  redactSecretsOf(readConfig({}));
});

test('each lookup of a name filters its private addresses out, also if it was public before', async () => {
  const answers = [['8.8.8.8'], ['127.0.0.1'], ['10.0.0.1', '8.8.4.4', '169.254.169.254'], []];
  const names = await nameServer(() => answers.shift() ?? []);
  const lookup = nameLookup({ publicOnly: true, signal, nameServers: [names.address] });
  const ask = () =>
    new Promise((resolve) => {
      lookup('rebind.example', { all: true }, (error, found) => resolve(error?.message ?? found));
    });
  expect(await ask()).toEqual([{ address: '8.8.8.8', family: 4 }]);
  expect(await ask()).toBe('rebind.example has no public address');
  expect(await ask()).toEqual([{ address: '8.8.4.4', family: 4 }]);
  expect(await ask()).toBe('rebind.example has no public address');
  names.close();
});

test('names of local hosts and cloud metadata have no public address, and no name server is asked', async () => {
  let asked = 0;
  const names = await nameServer(() => {
    asked += 1;
    return ['8.8.8.8'];
  });
  const lookup = nameLookup({ publicOnly: true, signal, nameServers: [names.address] });
  for (const name of [
    ...['localhost', 'a.localhost', 'metadata.google.internal', 'metadata', 'metadata.', 'instance-data'],
    ...['printer.local', 'router.home.arpa'],
  ])
    for (const options of [{}, { all: true }])
      expect(await new Promise((resolve) => lookup(name, options, (error) => resolve(error?.message)))).toBe(
        `${name} has no public address`,
      );
  expect(asked).toBe(0);
  names.close();
});

test('a silent name server is asked once per address family, and the lookup ends by its own timeout', async () => {
  let asked = 0;
  const silent = createSocket('udp4', () => {
    asked += 1;
  });
  await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
  // Much later than the lookup's own limit, so that it is clear which of them ends it.
  const late = AbortSignal.timeout(30_000);
  const nameServers = [`127.0.0.1:${silent.address().port}`];
  const lookup = nameLookup({ publicOnly: true, signal: late, nameServers });
  const error = await new Promise<NodeJS.ErrnoException | null>((resolve) =>
    lookup('x.example', {}, resolve),
  );
  expect(error?.code).toBe('ENOTFOUND');
  expect(late.aborted).toBe(false);
  // One query for IPv4 and one for IPv6.
  expect(asked).toBe(2);
  silent.close();
});

test('aborting the signal ends a lookup and cancels its query', async () => {
  const cancelled = vi.spyOn(Resolver.prototype, 'cancel');
  const stop = new AbortController();
  const silent = createSocket('udp4');
  await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
  const nameServers = [`127.0.0.1:${silent.address().port}`];
  const lookup = nameLookup({ publicOnly: true, signal: stop.signal, nameServers });
  const ended = new Promise((resolve) => lookup('x.example', {}, (error) => resolve(error?.code)));
  silent.once('message', () => stop.abort());
  expect(await ended).toBe('ENOTFOUND');
  expect(cancelled).toHaveBeenCalledOnce();
  cancelled.mockRestore();
  silent.close();
});

test.each([
  'ipfs://../admin',
  'ipfs://bafy/../../admin',
  'ipfs://bafy/%2e%2e/%2e%2e/admin',
  'ipfs://bafy/..%2f..%2fadmin',
  'ipfs://bafy/%252e%252e/%252e%252e/admin',
  'ipfs://bafy/..\\..\\admin',
  'ipfs://ipfs/../../admin',
  'ar://../x',
])('a URI that would leave the path of its gateway is refused: %s', (uri) => {
  expect(documentUrl(uri, 'https://user:mark@gateway.example/key', true)).toEqual({
    reason: 'the metadata uri leaves the content it names',
  });
});

test('public addresses are distinguished from private and special ones', () => {
  expect(['8.8.8.8', '2606:4700::1111'].map(isPublicAddress)).toEqual([true, true]);
  expect(
    [
      ...['10.1.2.3', '192.168.0.1', '::', 'fe80::1', '::ffff:127.0.0.1', '::127.0.0.1', 'x'],
      ...[
        '::ffff:7f00:1',
        '::ffff:0:a00:1',
        '5f00::1',
        '3fff::1',
        '3fff:fff::1',
        '192.88.99.1',
        '168.63.129.16',
      ],
      ...['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '192.0.0.192'],
    ].filter(isPublicAddress),
  ).toEqual([]);
});

test.each([
  ['names below the one that was registered', ['https://a.example.com/1', 'http://b.example.com:8443/2']],
  ['a name with its last dot', ['https://example.com/', 'https://example.com./']],
  ['addresses beside each other', ['http://8.8.8.8/', 'http://8.8.8.9/', 'http://0x8080809/']],
  [
    'addresses of one /64',
    ['http://[2a00:1::1]/', 'http://[2a00:1:0:0:a:b:c:d]:81/', 'http://[2a00:1::9:0:0:1]/'],
  ],
  ['addresses of one /64 in other forms', ['http://[2a00:1:2:3::]/', 'http://[2A00:1:2:3:4:5:6:7]/']],
  ['what stands on ipfs', ['ipfs://a', 'ipfs://b/c']],
])('%s are one site, with one share of a round', (_, uris) => {
  expect(new Set(uris.map(siteOf)).size).toBe(1);
});

test('documents of different hosts, /64s and storage networks are separate sites', () => {
  const uris = [
    'https://a.org',
    'https://b.org',
    'http://[2a00:1:0:1::1]',
    'http://[2a00:1::1]',
    'ipfs://a',
    'ar://a',
  ];
  expect(new Set(uris.map(siteOf)).size).toBe(uris.length);
});
