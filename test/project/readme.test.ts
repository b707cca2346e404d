import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const scripts = (
  JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
).scripts;

test('every npm script that README names exists', () => {
  const named = [...readme.matchAll(/npm run ([a-z]+)/g)].map((match) => match[1] as string);
  expect(named.length).toBeGreaterThan(0);
  for (const name of [...named, 'start', 'test']) expect(Object.keys(scripts)).toContain(name);
});

test('every script runs a file that is there', () => {
  for (const command of Object.values(scripts)) {
    for (const [file] of command.matchAll(/[\w./]+\.(?:ts|mjs)/g)) {
      expect(existsSync(path.join(ROOT, file)), `${command}: ${file}`).toBe(true);
    }
  }
});

test('every file that README points to is there', () => {
  const files = [
    ...readme.matchAll(/`((?:schemas|ingest|clickhouse|api|devnet|test|start|docs)\/[\w./-]*)`/g),
  ];
  expect(files.length).toBeGreaterThan(10);
  for (const [, file] of files) expect(existsSync(path.join(ROOT, file as string)), file).toBe(true);
});

test('README stays under 200 lines', () => {
  expect(readme.split('\n').length).toBeLessThan(200);
});
