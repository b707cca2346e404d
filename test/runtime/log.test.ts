import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { deadUrl } from '../support/answering.ts';
import { awaited } from '../support/awaited.ts';
import { freePort } from '../support/free-port.ts';

const LOG = path.resolve(import.meta.dirname, '../../runtime/process/log.ts');

/** The lines of a process that logs an error, as objects. */
async function logged(making: string): Promise<Record<string, unknown>[]> {
  const script = `import { createLogger } from '${LOG}';
    const error = ${making};
    createLogger('info', 'test').error({ err: error, path: '/x' }, 'a request failed');`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('an error is logged with its type, message, stack, code and causes, and without its other properties', async () => {
  const [line] = await logged(`Object.assign(new TypeError('it broke', { cause: new Error('because') }),
    { code: 'E1', params: ['a secret'], detail: 'Failing row contains (a secret)', input: 'postgres://u:p@h' })`);
  expect(line).toMatchObject({ process: 'test', path: '/x', err: { type: 'TypeError', code: 'E1' } });
  expect(Object.keys(line?.err as object).sort()).toEqual(['code', 'message', 'stack', 'type']);
  expect(JSON.stringify(line)).toMatch(/it broke.*because/);
  expect(JSON.stringify(line)).not.toMatch(/a secret|u:p/);
});

test('an error message with line breaks stays on one line; a thrown value that is no error is not shown', async () => {
  const lines = await logged(`new Error('first\\n{"level":60,"msg":"forged"}')`);
  expect(lines).toHaveLength(1);
  expect(lines[0]?.msg).toBe('a request failed');
  expect((await logged(`{ token: 'a secret' }`))[0]?.err).toEqual({ message: 'an unknown failure' });
});

test('control and format characters are escaped in the line, and parsing it restores the text', async () => {
  const said = 'a name \u009b2J\u009d0;owned\u0007 \u001b[2J \u202eevil\u2066 \u{e0041} é';
  const script = `import { createLogger } from '${LOG}';
    createLogger('info', 'test').warn({ said: ${JSON.stringify(said)} }, 'x');`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(stderr.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(JSON.parse(stderr)).toMatchObject({ said });
});

test('a repeated warning is logged once, a repeated info line each time', async () => {
  const script = `import { createLogger } from '${LOG}';
    const logger = createLogger('info', 'test');
    for (let attempt = 0; attempt < 5; attempt += 1) {
      logger.warn({ attempt, error: 'refused' }, 'trying again');
      logger.info({ attempt }, 'told');
    }`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  const said = stderr
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(said.filter((sentence) => sentence === 'trying again')).toHaveLength(1);
  expect(said.filter((sentence) => sentence === 'told')).toHaveLength(5);
});

test('a line that cannot be written is left out, and lines are written again once there is room', async () => {
  const script = `import fs from 'node:fs';
    import { createLogger } from '${LOG}';
    const { writeSync } = fs;
    const full = (code) => {
      let room = 20;
      fs.writeSync = (to, bytes) => {
        if (room === 0) throw Object.assign(new Error(code), { code });
        const taken = writeSync(to, bytes.slice(0, room));
        room = 0;
        return taken;
      };
    };
    const logger = createLogger('info', 'test');
    logger.info('written');
    for (const code of ['ENOSPC', 'EIO', 'ENOSPC']) {
      full(code);
      logger.info('x'.repeat(1_000_000));
      logger.warn({ code }, 'trying again');
    }
    fs.writeSync = writeSync;
    logger.info('room again');
    logger.info('and on');
    process.stdout.write('alive');`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    script,
  ]);
  expect(stdout).toBe('alive');
  // After a line that was cut, the next begins on a new line.
  const said = stderr.split('\n').filter((line) => line.endsWith('}'));
  expect(said.map((line) => JSON.parse(line).msg)).toEqual(['written', 'room again', 'and on']);
});

test.skipIf(!existsSync('/dev/full'))('a process whose log is on a full disk goes on', async () => {
  const script = `import { createLogger } from '${LOG}';
    createLogger('info', 'test').warn('trying again');
    process.stdout.write('alive');`;
  const disk = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(disk));
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', disk],
  });
  const [told, [exit]] = await Promise.all([text(child.stdout as Readable), once(child, 'exit')]);
  expect({ told, exit }).toEqual({ told: 'alive', exit: 0 });
});

test('secrets given to the logger and logins in URLs are replaced in every field of a line', async () => {
  const script = `import { createLogger } from '${LOG}';
    const logger = createLogger('info', 'test', ['pa"ss word', 'http://node.example/key']);
    logger.warn({ err: new Error('pa"ss word at postgres://u:p@db/x, pa%22ss%20word'), url: 'http://node.example/key?x' }, 'pa"ss word');`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(stderr).not.toMatch(/ss word|ss%20word|u:p|example/);
  expect(JSON.parse(stderr)).toMatchObject({ msg: '***', url: '***?x' });
});

test('secrets of the process’s configuration are replaced also by a logger that was given none', async () => {
  const config = path.resolve(import.meta.dirname, '../../runtime/config');
  const script = `import { createLogger } from '${LOG}';
    import { readConfig } from '${config}/config.ts';
    import { redactSecretsOf } from '${config}/secrets.ts';
    redactSecretsOf(readConfig({ YELLOWSTONE_X_TOKEN: 'token-of-ours' }));
    createLogger('info', 'test').warn({ err: new Error('token-of-ours is refused') }, 'asked with token-of-ours');`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(stderr).not.toContain('token-of-ours');
  expect(JSON.parse(stderr)).toMatchObject({ msg: 'asked with ***' });
});

test('no sslmode of POSTGRES_URL makes the Postgres client print a warning', async () => {
  const root = path.resolve(import.meta.dirname, '../..');
  const modes = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];
  const urls = modes.flatMap((mode) =>
    ['', '&uselibpqcompat=true'].map((more) => `postgres://u:p@127.0.0.1:1/x?sslmode=${mode}${more}`),
  );
  const script = `import { openPool } from '${root}/api/postgres/pool.ts';
    import { readConfig } from '${root}/runtime/config/config.ts';
    for (const POSTGRES_URL of ${JSON.stringify(urls)}) {
      const db = openPool(readConfig({ POSTGRES_URL }).postgresUrl);
      await (async () => db.query('SELECT 1'))().catch(() => process.stdout.write('asked '));
    }`;
  const told = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(told).toEqual({ stdout: 'asked '.repeat(urls.length), stderr: '' });
});

test('everything on the API’s standard error is a JSON log line, also when POSTGRES_URL has sslmode=require', async () => {
  const [dead, METRICS_PORT] = [await deadUrl(), String(await freePort())];
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'api/main.ts'], {
    cwd: path.resolve(import.meta.dirname, '../..'),
    env: {
      ...{ PATH, NODE_COMPILE_CACHE, METRICS_PORT, PORT: '0', CLICKHOUSE_URL: dead, SOLANA_RPC_URL: dead },
      POSTGRES_URL: `${dead.replace('http://', 'postgres://u:p@')}/x?sslmode=require`,
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  // /ready has asked Postgres.
  await awaited(async () => {
    const ready = await fetch(`http://127.0.0.1:${METRICS_PORT}/ready`);
    expect(await ready.text()).toContain('Postgres');
  });
  child.kill('SIGTERM');
  await once(child, 'close');
  const lines = said.trim().split('\n');
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(() => JSON.parse(line), line).not.toThrow();
});
