import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Which folders each folder may import; `test` and `bench` compose everything. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  schemas: [],
  runtime: ['schemas'],
  clickhouse: ['schemas', 'runtime'],
  ingest: ['schemas', 'runtime', 'clickhouse'],
  api: ['schemas', 'runtime', 'clickhouse'],
  devnet: ['schemas'],
  start: ['schemas', 'runtime', 'clickhouse', 'ingest', 'api'],
};

/** Which rooms of its folder each room, a subfolder, may import. A file directly in a folder is in the room of that name. */
const ROOMS: Record<string, readonly string[]> = {
  ingest: [],
  'ingest/log': [],
  'ingest/accounts': [],
  'ingest/history': ['ingest/log'],
  'ingest/verify': ['ingest/history', 'ingest/log'],
  'ingest/stream': ['ingest/verify', 'ingest/history', 'ingest/accounts', 'ingest/log'],
  'ingest/materialise': ['ingest/log'],
  'ingest/poll': ['ingest/log'],
  'ingest/operate': [
    'ingest/stream',
    'ingest/verify',
    'ingest/history',
    'ingest/accounts',
    'ingest/log',
    'ingest/materialise',
    'ingest/poll',
  ],
  'ingest/commands': [
    'ingest/operate',
    'ingest/stream',
    'ingest/verify',
    'ingest/history',
    'ingest/log',
    'ingest/materialise',
    'ingest/poll',
  ],

  'api/postgres': [],
  'api/latest': [],
  'api/deps': ['api/latest'],
  'api/http': ['api/latest'],
  'api/figures': ['api/deps', 'api/latest'],
  'api/agent': ['api/http', 'api/deps', 'api/postgres'],
  'api/client': ['api/agent'],
  'api/coin': ['api/http', 'api/figures', 'api/deps', 'api/latest'],
  'api/history': ['api/http', 'api/figures', 'api/deps', 'api/latest', 'api/coin'],
  'api/rankings': ['api/http', 'api/figures', 'api/deps', 'api/latest'],
  'api/status': ['api/http', 'api/figures', 'api/deps', 'api/latest'],
  'api/analytics': ['api/http', 'api/figures', 'api/deps', 'api/latest'],
  'api/registries': ['api/http', 'api/figures', 'api/deps', 'api/latest'],
  'api/explorer': ['api/http', 'api/latest'],
  'api/stream': ['api/http', 'api/deps', 'api/latest', 'api/coin', 'api/rankings'],
  'api/currencies': ['api/http', 'api/figures', 'api/deps', 'api/latest'],
  api: [
    'api/http',
    'api/deps',
    'api/latest',
    'api/agent',
    'api/coin',
    'api/history',
    'api/rankings',
    'api/status',
    'api/analytics',
    'api/registries',
    'api/currencies',
    'api/explorer',
    'api/stream',
  ],

  'devnet/http': [],
  'devnet/program': [],
  'devnet/bytes': ['devnet/program'],
  'devnet/chain': ['devnet/program', 'devnet/bytes'],
  'devnet/life': ['devnet/program', 'devnet/bytes', 'devnet/chain'],
  'devnet/geyser': ['devnet/program', 'devnet/bytes', 'devnet/chain'],
  'devnet/rpc': ['devnet/http', 'devnet/program', 'devnet/bytes', 'devnet/chain', 'devnet/geyser'],
  'devnet/venues': ['devnet/http', 'devnet/program', 'devnet/bytes', 'devnet/chain', 'devnet/life'],
  'devnet/agents': ['devnet/program', 'devnet/chain', 'devnet/life'],
  devnet: [
    'devnet/program',
    'devnet/chain',
    'devnet/life',
    'devnet/geyser',
    'devnet/rpc',
    'devnet/venues',
    'devnet/agents',
  ],
};

/** Packages that only one file, or one folder, may import. */
const KNOWN_BY: Record<string, RegExp> = {
  kafkajs: /^ingest\/log\/kafka\//,
  chdb: /^clickhouse\/embedded\//,
  '@electric-sql/pglite': /^api\/postgres\//,
  preact: /^api\/explorer\/browser\//,
  '@triton-one/yellowstone-grpc': /^(ingest\/stream\/geyser|schemas|devnet\/geyser)\//,
};

function importsOf(file: string): string[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const found = text.matchAll(/(?:from\s+|import\s+|import\()\s*'([^']+)'/g);
  return [...found].map((match) => match[1] as string);
}

const targetOf = (file: string, specifier: string) =>
  path.relative(ROOT, path.resolve(ROOT, path.dirname(file), specifier));

/** The files of ours that a file imports. */
const ownImportsOf = (file: string) =>
  importsOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => targetOf(file, specifier));

const sources = Object.keys(MAY_IMPORT).flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }));

/** The room of a file: its folder below `ingest`, `api` or `devnet`. */
function roomOf(file: string): string | null {
  const [folder = '', room = ''] = file.split('/');
  if (ROOMS[folder] === undefined) return null;
  return room.endsWith('.ts') ? folder : `${folder}/${room}`;
}

describe('what a folder may import', () => {
  test('more than 50 source files are checked', () => {
    expect(sources.length).toBeGreaterThan(50);
  });

  test.each(sources)('%s imports only the folders and packages that the tables allow', (file) => {
    const folder = file.split('/')[0] as string;
    const allowed = [folder, ...(MAY_IMPORT[folder] as readonly string[])];
    for (const target of ownImportsOf(file)) {
      expect(allowed, `${file} imports ${target}`).toContain(target.split('/')[0]);
    }
    for (const specifier of importsOf(file)) {
      for (const [name, owner] of Object.entries(KNOWN_BY)) {
        if (specifier === name || specifier.startsWith(`${name}/`)) {
          expect(file, `${file} imports ${name}`).toMatch(owner);
        }
      }
    }
  });
});

describe('what a room, a subfolder of ingest, api or devnet, may import', () => {
  test('every room is listed in the table', () => {
    const rooms = new Set(sources.map(roomOf).filter((room) => room !== null));
    expect([...rooms].filter((room) => ROOMS[room] === undefined)).toEqual([]);
  });

  test('the table allows no cycle between rooms', () => {
    const standing = new Set<string>();
    let left = Object.keys(ROOMS);
    while (left.length > 0) {
      const next = left.filter((room) => !(ROOMS[room] as readonly string[]).every((on) => standing.has(on)));
      expect(next.length, `these rooms stand on each other: ${left.join(', ')}`).toBeLessThan(left.length);
      for (const room of left) if (!next.includes(room)) standing.add(room);
      left = next;
    }
  });

  test('every import stays in its room or goes to one that the table allows', () => {
    const against = sources.flatMap((file) => {
      const room = roomOf(file);
      return ownImportsOf(file)
        .filter((target) => {
          const other = roomOf(target);
          const sameFolder = room !== null && other?.split('/')[0] === room.split('/')[0];
          return sameFolder && other !== room && !(ROOMS[room] ?? []).includes(other as string);
        })
        .map((target) => `${file} imports ${target}`);
    });
    expect(against).toEqual([]);
  });
});

test('there is no cycle of imports between files', () => {
  const below = new Map(sources.map((file) => [file, ownImportsOf(file)]));
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (file: string, way: readonly string[]) => {
    const at = way.indexOf(file);
    if (at !== -1) {
      circles.push([...way.slice(at), file].join(' → '));
      return;
    }
    if (done.has(file)) return;
    for (const next of below.get(file) ?? []) walk(next, [...way, file]);
    done.add(file);
  };
  for (const file of sources) walk(file, []);
  expect(circles).toEqual([]);
});
