import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const TESTS = path.resolve(import.meta.dirname, '..');
/** Waits with a limit of their own, a second by default: on a busy machine that would decide a test's outcome. */
const OWN_LIMIT = /\bvi\s*\.wait(For|Until)\b|\bexpect\s*\.poll\b/;

test('no test waits by the runner’s own polling, whose limits fail on a busy machine', () => {
  const files = globSync('**/*.ts', { cwd: TESTS }).filter((file) => file !== 'support/awaited.ts');
  expect(files.length).toBeGreaterThan(100);
  const impatient = files.filter((file) => OWN_LIMIT.test(readFileSync(path.join(TESTS, file), 'utf8')));
  expect(impatient).toEqual([]);
});

test('awaited() works without the test runner, so that benchmarks can use it', () => {
  const url = pathToFileURL(path.join(TESTS, 'support/awaited.ts')).href;
  const code = `let tries = 0;
    const { awaited } = await import(${JSON.stringify(url)});
    console.log(await awaited(() => { if (++tries < 3) throw new Error('not yet'); return tries; }));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  expect(said.trim()).toBe('3');
});
