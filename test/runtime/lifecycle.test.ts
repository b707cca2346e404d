import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';

const LIFECYCLE = JSON.stringify(path.resolve(import.meta.dirname, '../../runtime/process/lifecycle.ts'));
const ERRORS = JSON.stringify(path.resolve(import.meta.dirname, '../../runtime/errors.ts'));

/** Runs a process whose work is `body`, sends it a signal once it prints "ready", and returns how it ended. */
async function run(body: string, kill: NodeJS.Signals | null = null) {
  const code = `import { aborted, runMain } from ${LIFECYCLE}; import { ConfigError, RetryableError } from ${ERRORS};
    await runMain(async (signal) => { ${body} });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'pipe' });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
    if (kill !== null && String(chunk).includes('ready')) child.kill(kill);
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const [exit, signal] = await once(child, 'close');
  return { exit, signal, out, err };
}

const WAIT = `setInterval(() => {}, 1000); process.stdout.write('ready\\n'); await aborted(signal); process.stdout.write('stopped');`;

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s lets the work end in order, with exit code 0',
  async (signal) => {
    expect(await run(WAIT, signal)).toMatchObject({ exit: 0, signal: null, out: 'ready\nstopped' });
  },
);

describe('a process that gets SIGINT twice', () => {
  /** Sends a signal, and another one while the process stops, `later` ms after the first by its own clock. */
  async function twice(later: number) {
    const code = `import { once } from 'node:events';
      import { aborted, runMain } from ${LIFECYCLE};
      let now = 1e6;
      performance.now = () => now;
      await runMain(async (signal) => {
        setInterval(() => {}, 1000);
        process.stdout.write('ready\\n');
        await aborted(signal);
        now += ${later};
        const again = once(process, 'SIGINT');
        process.stdout.write('stopping\\n');
        await again;
        process.stdout.write('stopped');
      });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'pipe' });
    const told = Promise.all([text(child.stdout), text(child.stderr)]);
    await once(child.stdout, 'data');
    child.kill('SIGINT');
    await once(child.stdout, 'data');
    child.kill('SIGINT');
    const [exit, signal] = await once(child, 'exit');
    const [out, err] = await told;
    return { exit, signal, out, err };
  }

  test('ignores a second signal 2 ms after the first, as npm repeats it, and stops in order', async () => {
    const end = await twice(2);
    expect(end).toEqual({ exit: 0, signal: null, out: 'ready\nstopping\nstopped', err: '' });
  });

  test('ends at once with exit code 1 on a second signal 1.1 s after the first', async () => {
    const end = await twice(1_100);
    expect(end).toEqual({ exit: 1, signal: null, out: 'ready\nstopping\n', err: '' });
  });
});

test('finished work exits with 0; a ConfigError or RetryableError exits with 1 and prints its message alone', async () => {
  expect((await run('')).exit).toBe(0);
  const failed = await run(`throw new ConfigError('PORT is malformed')`);
  expect(failed).toMatchObject({ exit: 1, err: 'PORT is malformed\n' });
  const early = await run(`throw new RetryableError('no topic: run npm run migrate')`);
  expect(early).toMatchObject({ exit: 1, err: 'no topic: run npm run migrate\n' });
});

test('any other error exits with 1 and prints its stack', async () => {
  const failed = await run(`throw new TypeError('odd')`);
  expect(failed.exit).toBe(1);
  expect(failed.err).toMatch(/TypeError: odd\n\s+at /);
});

describe('a process whose output has no reader any more', () => {
  /** A process that goes on writing to an output without a reader; the other output shows how it ended. */
  async function left(unread: 'stdout' | 'stderr', kill: NodeJS.Signals | null) {
    const code = `import { aborted, runMain } from ${LIFECYCLE};
      await runMain(async (signal) => {
        const said = setInterval(() => process.${unread}.write('more\\n'), 1);
        await aborted(signal);
        process.${unread === 'stdout' ? 'stderr' : 'stdout'}.write('stopped');
        clearInterval(said);
      });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'pipe' });
    await once(child[unread], 'data');
    child[unread].destroy();
    await once(child[unread], 'close');
    const told = text(unread === 'stdout' ? child.stderr : child.stdout);
    if (kill !== null) child.kill(kill);
    const [[exit, signal], end] = await Promise.all([once(child, 'exit'), told]);
    return { exit, signal, end };
  }

  test('stops in order when standard output has no reader', async () => {
    expect(await left('stdout', null)).toEqual({ exit: 0, signal: null, end: 'stopped' });
  });

  test('goes on until SIGTERM when its log on standard error has no reader', async () => {
    expect(await left('stderr', 'SIGTERM')).toEqual({ exit: 0, signal: null, end: 'stopped' });
  });
});

describe('a process that cannot write its standard output', () => {
  /** A process whose first write fails; it logs whether it was asked to stop. */
  async function unwritable(stdout: 'pipe' | number, failing: string) {
    const code = `import { once } from 'node:events';
      import { runMain } from ${LIFECYCLE};
      await runMain(async (signal) => {
        const failed = once(process.stdout, 'error');
        ${failing}
        const [{ code }] = await failed;
        process.stderr.write(code + ' ' + signal.aborted);
      });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', stdout, 'pipe'],
    });
    const told = text(child.stderr as Readable);
    const [[exit], end] = await Promise.all([once(child, 'exit'), told]);
    return { exit, end };
  }
  const emitted = (code: string) =>
    unwritable('pipe', `process.stdout.emit('error', Object.assign(new Error(), { code: '${code}' }));`);

  test.skipIf(!existsSync('/dev/full'))('goes on when the disk is full (ENOSPC)', async () => {
    const disk = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(disk));
    expect(await unwritable(disk, `process.stdout.write('more');`)).toEqual({ exit: 0, end: 'ENOSPC false' });
  });

  test('goes on when a quota is used up (EDQUOT)', async () => {
    expect(await emitted('EDQUOT')).toEqual({ exit: 0, end: 'EDQUOT false' });
  });

  test('stops in order when its terminal is closed (EIO)', async () => {
    expect(await emitted('EIO')).toEqual({ exit: 0, end: 'EIO true' });
  });
});
