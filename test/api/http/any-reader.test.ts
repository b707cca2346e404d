import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Type } from 'typebox';
import { afterAll, expect, test } from 'vitest';
import { printedAnswer } from '../../../api/http/answers/printed.ts';
import { createHttp } from '../../../api/http/app.ts';
import { listen } from '../../../api/http/listen.ts';
import type { Latest } from '../../../api/latest/latest.ts';
import { createRandom } from '../../support/random.ts';

const SEED = Number(process.env.SEED ?? 7);
const CONNECTIONS = 30;
const AT_ONCE = 10;
const PAGES = 40;
/** Bytes of a page: within kept answers, within lent buffers, and above both. */
const LENGTHS = [200, 20_000, 40_000, 250_000, 240_000, 230_000, 262_144, 400_000];

/** Half of the pages are made from this, which changes all the time. */
let moment = 0;
const momentOf = (n: number) => (n % 2 === 0 ? 0 : moment);
let made = 0;
const latest = {
  currentStore: () => ({ database: 'test' }),
  age: () => 0,
  stillHolds: ({ stamps }: { stamps: number[] }) => stamps[0] === moment,
  readNow: (make: (view: never) => unknown) => {
    made += 1;
    if (made % 5 === 0) moment += 1;
    return { value: make(null as never), cells: [], stamps: [moment], until: 0 };
  },
} as unknown as Latest;
const textOf = (n: number, at: number) =>
  `${n} of ${at};`.repeat(Math.ceil((LENGTHS[n % LENGTHS.length] as number) / `${n} of ${at};`.length));

const app = createHttp(
  [
    {
      ...({ method: 'GET', path: '/pages/:n', summary: '', responses: { 200: Type.Any() } } as const),
      cached: true,
      answer: ({ params }) => {
        const n = Number(params.n);
        const at = momentOf(n);
        const text = textOf(n, at);
        const body = printedAnswer({ page: n, moment: at }, 'items', ({ add }) =>
          add('    "', `${text}"`, `${at}`),
        );
        return { status: 200, body };
      },
    },
  ],
  { latest, clock: Date.now },
);
const { port, close } = await listen(app, '127.0.0.1', 0);
afterAll(close);

interface Asking {
  page: number;
  tag: string | null;
  encoding: string;
}

/** The complete answers among a connection's bytes, each with its request. */
function* answersTo(asked: readonly Asking[], heard: Buffer) {
  let at = 0;
  for (const asking of asked) {
    const headEnd = heard.indexOf('\r\n\r\n', at);
    if (headEnd < 0) return;
    const [status = '', ...lines] = heard.toString('latin1', at, headEnd).split('\r\n');
    const headers = new Map(lines.map((line) => line.split(': ') as [string, string]));
    const begin = headEnd + 4;
    at = begin + (status.includes('304') ? 0 : Number(headers.get('Content-Length')));
    if (at > heard.length) return;
    yield { asking, status, headers, body: heard.subarray(begin, at) };
  }
  expect(heard.length).toBe(at);
}

async function askedByOthers(times: number, page: () => number): Promise<void> {
  for (let n = 0; n < times; n += 1)
    await (await fetch(`http://127.0.0.1:${port}/pages/${page()}`)).arrayBuffer();
}

function unpacked(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'br') return brotliDecompressSync(body);
  return encoding === 'gzip' ? gunzipSync(body) : body;
}

test(`every client gets the page it asked for, however it reads, and an ETag stands for one text (seed ${SEED})`, async () => {
  const random = createRandom(SEED);
  const below = (most: number) => Math.floor(random() * most);
  const textOfTag = new Map<string, string>();
  const tagOfPage = new Map<number, string>();
  const seen = { whole: 0, known: 0, packed: 0 };

  const ask = async (): Promise<void> => {
    // More than the system buffers for a client that does not read: the rest waits while others are answered.
    const isLate = below(2) === 0;
    const asked = Array.from({ length: isLate ? 32 : 1 + below(20) }, (): Asking => {
      const page = below(PAGES);
      const tag = !isLate && below(2) === 0 ? (tagOfPage.get(page) ?? null) : null;
      return { page, tag, encoding: isLate ? '' : (['', 'br', 'gzip'][below(3)] as string) };
    });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    const closed = once(socket, 'close');
    await once(socket, 'connect');
    for (const [at, { page, tag, encoding }] of asked.entries())
      socket.write(
        [
          `GET /pages/${page} HTTP/1.1\r\nHost: x\r\n`,
          tag === null ? '' : `If-None-Match: ${tag}\r\n`,
          encoding === '' ? '' : `Accept-Encoding: ${encoding}\r\n`,
          at === asked.length - 1 ? 'Connection: close\r\n\r\n' : '\r\n',
        ].join(''),
      );
    const heard: Buffer[] = [];
    const goesAfter = below(4) === 0 ? below(20) : Number.POSITIVE_INFINITY;
    if (below(4) === 0) socket.end();
    if (isLate) socket.pause();
    const others = isLate ? askedByOthers(20, () => below(PAGES)).then(() => socket.resume()) : null;
    socket.on('data', (chunk) => {
      heard.push(chunk);
      if (heard.length > goesAfter) socket.destroy();
    });
    // A connection may end before the other requests were answered.
    await Promise.all([closed, others]);
    for (const { asking, status, headers, body } of answersTo(asked, Buffer.concat(heard))) {
      const tag = (headers.get('ETag') ?? '').replace('W/', '');
      if (status.includes('304')) {
        seen.known += 1;
        expect(tag).toBe(asking.tag);
        continue;
      }
      // On a very busy machine a request that waited too long for its turn is answered 503.
      if (status.includes('503')) {
        expect(JSON.parse(String(body))).toMatchObject({ code: 'busy' });
        continue;
      }
      expect(status).toBe('HTTP/1.1 200 OK');
      const encoding = headers.get('Content-Encoding');
      if (encoding !== undefined) seen.packed += 1;
      expect([undefined, asking.encoding]).toContain(encoding);
      const text = String(unpacked(body, encoding));
      const page = JSON.parse(text) as { page: number; moment: number; items: string[] };
      expect(page.page).toBe(asking.page);
      expect(page.items).toEqual([textOf(page.page, page.moment)]);
      expect(textOfTag.get(tag) ?? text).toBe(text);
      textOfTag.set(tag, text);
      tagOfPage.set(asking.page, tag);
      seen.whole += 1;
    }
  };

  let left = CONNECTIONS;
  // How many connections end before any byte arrived depends on the system.
  const isSeen = () => Math.min(seen.whole, seen.known, seen.packed) > 5;
  const some = async () => {
    for (; left > 0 || !isSeen(); left -= 1) await ask();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
});
