import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import Koa from 'koa';
import { expect, test } from 'vitest';
import { listen } from '../../../api/http/listen.ts';
import { PATIENCE_MS } from '../../support/awaited.ts';

const ASKED = 1_500;

/** The system's limit of the backlog, which a process cannot exceed. */
function mostOfSystem(): number {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  } catch {
    return 128;
  }
}

/** Counts connections up in shared memory, in a thread of its own. */
const CONNECTING = `
  const { connect } = require('node:net');
  const { workerData: { port, most, memory } } = require('node:worker_threads');
  const connected = new Int32Array(memory);
  for (let n = 0; n < most; n += 1) connect({ port, host: '127.0.0.1' }, () => {
    Atomics.add(connected, 0, 1);
    Atomics.notify(connected, 0);
  });
`;

test('connections made while the thread is blocked wait in the listen backlog, up to 1,500 or the system limit', async () => {
  const listening = await listen(new Koa(), '127.0.0.1', 0);
  const most = Math.min(ASKED, mostOfSystem());
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { port: listening.port, most, memory: connected.buffer };
  const worker = new Worker(CONNECTING, { eval: true, workerData });
  const until = performance.now() + PATIENCE_MS;
  // From here on this thread accepts no connection.
  for (let count = 0; count < most && performance.now() < until; ) {
    Atomics.wait(connected, 0, count, 100);
    count = Atomics.load(connected, 0);
  }
  expect(connected[0]).toBe(most);
  await worker.terminate();
  await listening.close();
});
