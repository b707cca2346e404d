import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { createPooledWriter } from '../../../api/http/answers/buffer-pool.ts';
import { printedAnswer } from '../../../api/http/answers/printed.ts';
import { createHttp } from '../../../api/http/app.ts';
import { listen } from '../../../api/http/listen.ts';
import type { Latest } from '../../../api/latest/latest.ts';

describe('texts written into pooled buffers', () => {
  const texts = ['[', 'a'.repeat(1_000), 'Größe ‮ 💰', ']'];

  test('the bytes equal the text, and a buffer is lent again only once it was given back', () => {
    const write = createPooledWriter(2);
    const first = write(texts);
    const second = write(['other']);
    expect(String(first.bytes)).toBe(texts.join(''));
    expect(second.bytes.buffer).not.toBe(first.bytes.buffer);
    first.giveBack?.();
    first.giveBack?.();
    const [third, fourth] = [write(['third']), write(['fourth'])];
    expect(third.bytes.buffer).toBe(first.bytes.buffer);
    expect(fourth.bytes.buffer).not.toBe(third.bytes.buffer);
    expect([second, third, fourth].map(({ bytes }) => String(bytes))).toEqual(['other', 'third', 'fourth']);
  });

  test.each([
    ['a', 256 * 1024 - 4],
    ['a', 256 * 1024 - 3],
    ['a', 300_000],
    ['€', 87_381],
    ['€', 87_382],
    ['💰', 65_535],
    ['💰', 65_536],
  ])('no byte is lost of %s repeated %i times, within and beyond the size of a buffer', (one, times) => {
    const write = createPooledWriter();
    const text = one.repeat(times);
    for (const all of [[text], ['', text.slice(0, 1_000), text.slice(1_000), '']])
      expect(write(all).bytes.equals(Buffer.from(text))).toBe(true);
  });
});

const CONNECTIONS = 9;
/** Pages requested in a row on a connection: more bytes than the system buffers for a client that does not read. */
const PAGES = 32;
const page = (n: number) => ({ page: n, items: [`${n}:`.repeat(60_000)] });

test('a client that reads slowly gets its own pages, though buffers are reused for other pages meanwhile', async () => {
  const pagesOf = (n: number) => Array.from({ length: PAGES }, (_, at) => n * PAGES + at);
  const latest = {
    currentStore: () => ({ database: 'test' }),
    age: () => 0,
    stillHolds: () => false,
    readNow: (make: (view: never) => unknown) => ({
      value: make(null as never),
      cells: [],
      stamps: [],
      until: 0,
    }),
  } as unknown as Latest;
  const app = createHttp(
    [
      {
        ...({ method: 'GET', path: '/pages/:n', summary: '', responses: { 200: Type.Any() } } as const),
        cached: true,
        answer: ({ params }) => {
          const { page: n, items } = page(Number(params.n));
          const body = printedAnswer({ page: n }, 'items', ({ add }) => {
            for (const item of items) add('    "', `${item}"`, item.slice(0, 9));
          });
          return { status: 200, body };
        },
      },
    ],
    { latest, clock: Date.now },
  );
  const { port, close } = await listen(app, '127.0.0.1', 0);
  const ask = async (n: number): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.pause();
    await once(socket, 'connect');
    for (const at of pagesOf(n))
      socket.write(
        `GET /pages/${at} HTTP/1.1\r\nHost: a\r\n${at % PAGES === PAGES - 1 ? 'Connection: close\r\n' : ''}\r\n`,
      );
    return socket;
  };
  const asked = await Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => ask(n)));
  const read = async (socket: Socket): Promise<string> => {
    let all = '';
    for await (const chunk of socket) all += String(chunk);
    return all;
  };
  // Read one after the other, so that the last have a page half written meanwhile. A third leave without reading.
  for (const [n, socket] of asked.entries()) {
    if (n % 3 === 2) {
      socket.destroy();
      continue;
    }
    const bodies = (await read(socket)).split('HTTP/1.1 200 OK').slice(1);
    const found = bodies.map((answer) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))));
    expect(found).toEqual(pagesOf(n).map(page));
  }
  await close();
});
