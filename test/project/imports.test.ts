import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Which folders each folder may import; `start`, `test` and `bench` compose everything. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  schemas: [],
  runtime: ['schemas'],
  clickhouse: ['schemas', 'runtime'],
  ingest: ['schemas', 'runtime', 'clickhouse'],
  api: ['schemas', 'runtime', 'clickhouse'],
  devnet: ['schemas'],
  start: ['schemas', 'runtime', 'clickhouse', 'ingest', 'api'],
};

/** The packages that only one file, or one folder, may know. */
const KNOWN_BY: Record<string, RegExp> = {
  kafkajs: /^ingest\/kafka\//,
  chdb: /^clickhouse\/embedded\//,
  '@electric-sql/pglite': /^api\/postgres\//,
  '@triton-one/yellowstone-grpc': /^(ingest\/geyser|schemas|devnet\/geyser)\//,
};

function importsOf(file: string): string[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const found = text.matchAll(/(?:from\s+|import\s+|import\()\s*'([^']+)'/g);
  return [...found].map((match) => match[1] as string);
}

const sources = Object.keys(MAY_IMPORT).flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }));

describe('what a folder may import', () => {
  test('there are sources to look at', () => {
    expect(sources.length).toBeGreaterThan(50);
  });

  test.each(sources)('%s keeps to the table', (file) => {
    const folder = file.split('/')[0] as string;
    const allowed = [folder, ...(MAY_IMPORT[folder] as readonly string[])];
    for (const specifier of importsOf(file)) {
      if (specifier.startsWith('.')) {
        const target = path.relative(ROOT, path.resolve(ROOT, path.dirname(file), specifier)).split('/')[0];
        expect(allowed, `${file} imports ${specifier}`).toContain(target);
      }
      for (const [name, owner] of Object.entries(KNOWN_BY)) {
        if (specifier === name || specifier.startsWith(`${name}/`)) {
          expect(file, `${file} imports ${name}`).toMatch(owner);
        }
      }
    }
  });
});
