import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Loads what a test run's process loads, sets the exit code, and has nothing left to do. */
const ending = (code: number) =>
  `await import('./test/support/global-setup.ts'); process.exitCode = ${code};`;

test.each([0, 1])(
  'a process that loads the global setup of the tests and sets exit code %i exits with it',
  (code) => {
    const child = spawnSync(process.execPath, ['--input-type=module', '--eval', ending(code)]);
    expect(`${child.stderr}`).not.toContain('Error');
    expect(child.status).toBe(code);
  },
);
