import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';

const fileOf = (name: string) => JSON.stringify(path.resolve(import.meta.dirname, '../../runtime', name));

/** How a process ends that loads its configuration with the `.env` that `put` makes, and what it prints. */
async function loaded(put: (file: string) => void, env: Record<string, string> = {}) {
  const directory = mkdtempSync(path.join(tmpdir(), 'load-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  put(path.join(directory, '.env'));
  const code = `import { runMain } from ${fileOf('process/lifecycle.ts')};
    import { loadConfig } from ${fileOf('config/load.ts')};
    await runMain(async () => {
      const { port, commitment, yellowstoneXToken } = loadConfig();
      process.stdout.write(JSON.stringify({ port, commitment, yellowstoneXToken }));
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    ...{ cwd: directory, env, stdio: 'pipe' },
  });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const [exit] = await once(child, 'exit');
  const [out, err] = await said;
  return { exit, err, config: out === '' ? null : JSON.parse(out) };
}

function unreadable(file: string): void {
  writeFileSync(file, 'PORT=81\n');
  chmodSync(file, 0o000);
}

describe('.env', () => {
  test('is read if present, with a byte-order mark or not; a variable already set wins; absent, defaults hold', async () => {
    const settings = `PORT=81\nexport COMMITMENT="finalized" # a comment\n`;
    const { config } = await loaded((file) => writeFileSync(file, settings), { PORT: '82' });
    expect(config).toMatchObject({ port: 82, commitment: 'finalized' });
    const marked = await loaded((file) => writeFileSync(file, '\ufeffPORT=81\n'));
    expect(marked.config).toMatchObject({ port: 81 });
    expect(await loaded(() => {})).toMatchObject({
      exit: 0,
      config: { port: 8080, commitment: 'confirmed' },
    });
  });

  test('does not replace a secret that is set already, directly or by its _FILE variable', async () => {
    const token = (file: string) => {
      writeFileSync(`${file}.token`, 'of the environment');
      writeFileSync(file, 'YELLOWSTONE_X_TOKEN=of the file\n');
    };
    const of = async (env: Record<string, string>) => (await loaded(token, env)).config?.yellowstoneXToken;
    expect(await of({})).toBe('of the file');
    expect(await of({ YELLOWSTONE_X_TOKEN: 'of the environment' })).toBe('of the environment');
    expect(await of({ YELLOWSTONE_X_TOKEN_FILE: '.env.token' })).toBe('of the environment');
    expect(await of({ YELLOWSTONE_X_TOKEN_FILE: '' })).toBe('of the file');
  });

  test.each<readonly [string, (file: string) => void]>([
    ['a directory', (file) => mkdirSync(file)],
    ['a link that leads nowhere', (file) => symlinkSync('nowhere', file)],
    ['a link to itself', (file) => symlinkSync('.env', file)],
    ['UTF-16', (file) => writeFileSync(file, '\ufeffPORT=81\n', 'utf16le')],
    ['UTF-16 without a mark', (file) => writeFileSync(file, 'PORT=81\n', 'utf16le')],
    ['Latin-1', (file) => writeFileSync(file, '# f\u00fcr hier\nPORT=81\n', 'latin1')],
    // Root may read any file.
    ...(process.getuid?.() === 0 ? [] : [['a file that may not be read', unreadable] as const]),
  ])('that is %s stops the process with a one-line error that names it', async (_, put) => {
    expect(await loaded(put)).toMatchObject({
      ...{ exit: 1, config: null },
      err: expect.stringMatching(/^\.env cannot be read: [^\n]+\n$/),
    });
  });
});
