import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const TESTS = path.resolve(import.meta.dirname, '..');

/** Pages whose tables name tests in their last column, and the folder that the names are below. */
const PAGES: [page: string, below: string][] = [
  ['README.md', ''],
  ['../docs/security.md', 'api/agent'],
];

/** The names in the last column of each row, under a head that ends with `test`. */
function namesIn(page: string): string[] {
  const lines = readFileSync(path.join(TESTS, page), 'utf8').split('\n');
  let inTests = false;
  return lines.flatMap((line) => {
    if (!line.startsWith('|')) inTests = false;
    const last = line.split('|').at(-2)?.trim() ?? '';
    if (last === 'test') inTests = true;
    return inTests ? [...last.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string) : [];
  });
}

/** The test files that a name stands for. */
function filesOf(name: string, below: string): string[] {
  const at = path.join(below, name);
  return name.endsWith('/')
    ? globSync(`${at}**/*.test.ts`, { cwd: TESTS })
    : existsSync(path.join(TESTS, `${at}.test.ts`))
      ? [`${at}.test.ts`]
      : [];
}

test('every test file is named in a table of test/README.md or docs/security.md', () => {
  const named = new Set(
    PAGES.flatMap(([page, below]) => namesIn(page).flatMap((name) => filesOf(name, below))),
  );
  expect(globSync('**/*.test.ts', { cwd: TESTS }).filter((file) => !named.has(file))).toEqual([]);
});

describe.each(PAGES)('the tests that %s names', (page, below) => {
  const names = namesIn(page);

  test('are more than 15', () => expect(names.length).toBeGreaterThan(15));

  test.each([...new Set(names)])('%s exists', (name) => {
    // A promise that holds by construction names a source file.
    const source = path.join(TESTS, '..', below, name);
    if (/\.ts$/.test(name)) expect(existsSync(source), source).toBe(true);
    else expect(filesOf(name, below), name).not.toEqual([]);
  });
});
