import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Type } from 'typebox';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createSendBacklog, mostWaiting } from '../../../api/http/answers/send-backlog.ts';
import type { TaggedBytes } from '../../../api/http/answers/tagged-bytes.ts';
import { createHttp } from '../../../api/http/app.ts';
import { listen } from '../../../api/http/listen.ts';
import type { Latest } from '../../../api/latest/latest.ts';
import { awaited } from '../../support/awaited.ts';

const KB = 1024;

/** A connection that reads nothing until the test has it read. */
class Response extends EventEmitter {
  destroyed = false;
  writableFinished = false;
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
  read(): void {
    this.writableFinished = true;
    this.emit('close');
  }
}

function stage() {
  const backlog = createSendBacklog(1_000 * KB);
  return (address: string, bytes: number, rest: TaggedBytes[] = []) => {
    const response = new Response();
    const own = { status: 200, bytes: Buffer.allocUnsafeSlow(bytes), etag: '', headers: {} };
    backlog.note(address, response as unknown as ServerResponse, { ...own, rest });
    return response;
  };
}

test('the client with the most unread bytes loses its oldest responses, and no other client loses any', () => {
  const ask = stage();
  const honest = ask('honest', 90 * KB);
  const greedy = Array.from({ length: 9 }, () => ask('greedy', 100 * KB));
  expect(greedy.some(({ destroyed }) => destroyed)).toBe(false);
  const another = ask('honest', 90 * KB);
  expect(greedy.map(({ destroyed }) => destroyed)).toEqual([true, ...Array(8).fill(false)]);
  for (let n = 0; n < 50; n += 1) greedy.push(ask('greedy', 100 * KB));
  expect(greedy.filter(({ destroyed }) => !destroyed)).toHaveLength(8);
  expect([honest.destroyed, another.destroyed]).toEqual([false, false]);
});

test('unread bytes are bounded by a quarter of the container’s memory, and by 512 MB', () => {
  const MB = 1024 * KB;
  expect(mostWaiting(1024 * MB)).toBe(256 * MB);
  for (const roomy of [2048 * MB, 64 * 1024 * MB, 2 ** 64, 0]) expect(mostWaiting(roomy)).toBe(512 * MB);
});

test('a response that was read no longer counts', () => {
  const ask = stage();
  for (let n = 0; n < 100; n += 1) {
    const response = ask('reader', 900 * KB);
    expect(response.destroyed).toBe(false);
    response.read();
  }
});

test('bytes sent to many clients count once, until the last of them has read them', () => {
  const ask = stage();
  const bytes = Buffer.allocUnsafeSlow(600 * KB);
  // Each reader has its own head. A part of a buffer keeps the whole buffer in memory.
  const rest = [0, 1, 2].map((n) => ({ tag: '', bytes: bytes.subarray(n * 200 * KB, (n + 1) * 200 * KB) }));
  const readers = Array.from({ length: 100 }, (_, n) => ask(`reader ${n}`, 100, rest));
  expect(readers.some(({ destroyed }) => destroyed)).toBe(false);
  for (const reader of readers.slice(1)) reader.read();
  expect(ask('another', 300 * KB).destroyed).toBe(false);
  ask('another', 300 * KB);
  expect(readers[0]?.destroyed).toBe(true);
});

test('responses small enough for the system’s buffers are not counted', () => {
  const ask = stage();
  const small = Array.from({ length: 100 }, () => ask('many', 60 * KB));
  expect(small.some(({ destroyed }) => destroyed)).toBe(false);
});

const LARGE = 16 * 1024 * KB;

test.each([
  { bound: 'the configured one', own: { backlogBytes: 3.5 * LARGE }, memory: 0 },
  { bound: 'a quarter of the container’s memory', own: {}, memory: 4 * 3.5 * LARGE },
])(
  'connections with unread large answers are closed beyond the bound ($bound), and a client that reads is served',
  async ({ own, memory }) => {
    const constrained = vi.spyOn(process, 'constrainedMemory').mockReturnValue(memory);
    onTestFinished(() => constrained.mockRestore());
    let made = 0;
    const route = {
      ...{ method: 'GET' as const, path: '/large', summary: '', responses: { 200: Type.Unknown() } },
      ...{ cached: false as const, mediaType: 'text/plain' },
      handler: async () => {
        made += 1;
        return { status: 200, body: Buffer.alloc(LARGE, 'x'), headers: { 'Content-Type': 'text/plain' } };
      },
    };
    const options = { latest: {} as Latest, clock: Date.now, trustProxy: 1, ...own };
    const api = await listen(createHttp([route], options), '127.0.0.1', 0);
    const greedy = [];
    for (let n = 1; n <= 4; n += 1) {
      const socket = connect(api.port, '127.0.0.1').on('error', () => undefined);
      socket.pause();
      socket.write('GET /large HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n');
      greedy.push(socket);
      await awaited(() => expect(made).toBe(n));
    }
    const honest = await fetch(`http://127.0.0.1:${api.port}/large`, {
      headers: { 'x-forwarded-for': '192.0.2.2' },
    });
    expect((await honest.arrayBuffer()).byteLength).toBe(LARGE);
    const [first] = greedy;
    let came = 0;
    first?.on('data', (chunk: Buffer) => {
      came += chunk.length;
    });
    first?.resume();
    await once(first as NonNullable<typeof first>, 'close');
    expect(came).toBeLessThan(LARGE);
    for (const socket of greedy) socket.destroy();
    await api.close();
  },
);
