import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const scripts = (
  JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
).scripts;

test('every npm script that README names exists', () => {
  const named = [...readme.matchAll(/npm run ([a-z:]+)/g)].map((match) => match[1] as string);
  expect(named.length).toBeGreaterThan(0);
  for (const name of [...named, 'start', 'test']) expect(Object.keys(scripts)).toContain(name);
});

test('every file that an npm script runs exists', () => {
  for (const command of Object.values(scripts)) {
    for (const [file] of command.matchAll(/[\w./]+\.(?:ts|mjs)/g)) {
      expect(existsSync(path.join(ROOT, file)), `${command}: ${file}`).toBe(true);
    }
  }
});

const PAGES = ['README.md', 'test/README.md', ...globSync('docs/*.md', { cwd: ROOT })];
const FOLDERS = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  .map(({ name }) => name);
/** Made by a run, not kept in the repository. */
const MADE = /^(data|secrets|dist|node_modules)\b/;

test.each(PAGES)('every path and link in %s exists', (page) => {
  const text = readFileSync(path.join(ROOT, page), 'utf8');
  const named = [...text.matchAll(/`([\w-]+\/[\w./-]*)`/g)]
    .map((match) => match[1] as string)
    .filter((name) => FOLDERS.includes(name.split('/')[0] as string) && !MADE.test(name));
  // What test/README.md names without its folder is looked at by named-tests.
  const own = page.startsWith('test/') ? named.filter((name) => /\.\w+$/.test(name)) : named;
  for (const name of own) expect(existsSync(path.join(ROOT, name)), name).toBe(true);
  for (const [, link] of text.matchAll(/\]\(((?!https?:)[^)#]+)/g)) {
    const target = path.resolve(ROOT, path.dirname(page), link as string);
    expect(existsSync(target), `${link}`).toBe(true);
  }
});

test('docs/walk.md has more than 30 links', () => {
  // Else the check of paths above might check nothing.
  expect(readFileSync(path.join(ROOT, 'docs/walk.md'), 'utf8').match(/\]\(/g)?.length).toBeGreaterThan(30);
});

test('docs/words.md has at most 40 lines', () => {
  const words = readFileSync(path.join(ROOT, 'docs/words.md'), 'utf8');
  expect(words.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
});

test('README stays under 200 lines', () => {
  expect(readme.split('\n').length).toBeLessThan(200);
});
