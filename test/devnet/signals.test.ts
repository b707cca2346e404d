import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from 'vitest';

const MAIN = path.resolve(import.meta.dirname, '../../devnet/main.ts');
/** Makes servers report that they close, and take 200 ms over it: the second signal comes meanwhile. */
const SLOW_END = `import { Server } from 'node:net';
  const close = Server.prototype.close;
  Server.prototype.close = function (done) {
    process.stdout.write('closing');
    setTimeout(() => close.call(this, done), 200);
    return this;
  };`;

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a second %s while devnet is stopping is ignored: it stops in order with exit code 0',
  async (signal) => {
    const args = [MAIN, '--port-base', '0', '--policies', '2', '--history', '3', '--past', '0'];
    const slow = `data:text/javascript,${encodeURIComponent(SLOW_END)}`;
    const child = spawn(process.execPath, ['--import', slow, ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    child.kill(signal);
    await once(child.stdout, 'data');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
  },
);
