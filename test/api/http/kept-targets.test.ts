import { connect } from 'node:net';
import { Type } from 'typebox';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { answerOf } from '../../../api/http/answers/answers.ts';
import { createPackedAnswers } from '../../../api/http/answers/packed-answers.ts';
import type { SendBacklog } from '../../../api/http/answers/send-backlog.ts';
import type { SharedAnswers } from '../../../api/http/answers/shared-answers.ts';
import { createHttp } from '../../../api/http/app.ts';
import { createKeptTargets } from '../../../api/http/kept-targets.ts';
import { listen } from '../../../api/http/listen.ts';
import type { Route } from '../../../api/http/route.ts';
import { createTurns, type Turns } from '../../../api/http/turns/turns.ts';
import type { Latest } from '../../../api/latest/latest.ts';
import { BusyError } from '../../../runtime/errors.ts';

const answered = vi.fn();
let held = true;
const latest = {
  currentStore: () => ({ database: 'test' }),
  age: () => 0,
  stillHolds: () => held,
  readNow: (make: (view: never) => unknown) => ({
    value: make(null as never),
    cells: [],
    stamps: [],
    until: 0,
  }),
} as unknown as Latest;
const pages: Record<string, { body: unknown; headers?: Record<string, string> }> = {
  small: { body: { a: 1 } },
  large: { body: { a: 'x'.repeat(20_000) } },
  bytes: { body: Buffer.from('<p>é</p>'), headers: { 'Content-Type': 'text/html', Vary: 'Accept' } },
};
const route: Route = {
  ...({ method: 'GET', path: '/pages/:name', summary: '', responses: { 200: Type.Any() } } as const),
  cached: true,
  answer: ({ params }) => ({
    status: params.name === 'none' ? 404 : 200,
    body: {},
    ...pages[params.name ?? ''],
  }),
};
const app = createHttp([route], { latest, clock: Date.now, onAnswered: answered });
const { port, close } = await listen(app, '127.0.0.1', 0);
afterAll(close);

/** All bytes that arrive, without the Date header. */
function wire(target: string, headers: Record<string, string>, method = 'GET'): Promise<string> {
  const lines = Object.entries({ Host: 'x', Connection: 'close', ...headers });
  const socket = connect(port, '127.0.0.1');
  // Not half-closed: the server ends a connection whose client has ended, even where an answer waits for its turn.
  socket.write(
    `${method} ${target} HTTP/1.1\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n`,
  );
  return new Promise((resolve, reject) => {
    const heard: Buffer[] = [];
    socket.on('data', (bytes) => heard.push(bytes));
    socket.on('error', reject);
    socket.on('end', () =>
      resolve(
        Buffer.concat(heard)
          .toString('latin1')
          .replace(/Date: .*\r\n/, ''),
      ),
    );
  });
}
/** Order and case of header lines do not matter. */
const parsed = (text: string) => {
  const [head = '', ...body] = text.split('\r\n\r\n');
  const [status, ...fields] = head.split('\r\n');
  return { status, fields: fields.toSorted(), body: body.join('\r\n\r\n') };
};

const ENCODINGS = [undefined, 'gzip', 'br', 'identity;q=0'];
test.each(Object.keys(pages).flatMap((name) => ENCODINGS.map((encoding) => [name, encoding] as const)))(
  'the kept response of page %s, for Accept-Encoding %s, has the head and the bytes of its route’s response',
  async (name, encoding) => {
    const headers = encoding === undefined ? {} : { 'Accept-Encoding': encoding };
    const target = `/pages/${name}`;
    // Another target for the same answer.
    const routed = parsed(await wire(`${target}?other=${encoding}`, headers));
    expect(routed.status).toBe('HTTP/1.1 200 OK');
    await wire(target, headers);
    expect(parsed(await wire(target, headers))).toEqual(routed);
    const etag = routed.fields.find((field) => field.startsWith('ETag: '))?.slice(6) ?? '';
    for (const tag of [etag, '*', `"x", ${etag}`, '"x"']) {
      const asked = { ...headers, 'If-None-Match': tag };
      const known = parsed(await wire(`${target}?else=${encoding}${encodeURIComponent(tag)}`, asked));
      expect(known.status).toBe(tag === '"x"' ? 'HTTP/1.1 200 OK' : 'HTTP/1.1 304 Not Modified');
      expect(parsed(await wire(target, asked))).toEqual(known);
    }
    expect(new Set(answered.mock.calls.map(([method, path]) => `${method} ${path}`))).toEqual(
      new Set(['GET /pages/:name']),
    );
  },
);

test('a request with another method, or for a response that no longer holds, is handled by the router', async () => {
  expect(await wire('/pages/small', {})).toBe(await wire('/pages/small', {}));
  expect(await wire('/pages/small', {}, 'POST')).toContain('HTTP/1.1 404');
  expect(await wire('/pages/small', {}, 'HEAD')).toContain('HTTP/1.1 405');
  held = false;
  pages.small = { body: { a: 2 } };
  expect(await wire('/pages/small', {})).toContain('"a": 2');
  held = true;
  expect(await wire('/pages/small', {})).toContain('"a": 2');
});

test('a kept response is sent without its query being parsed; a 404 is not kept', async () => {
  await wire('/pages/small', {});
  const queries = vi.spyOn(globalThis, 'URLSearchParams');
  onTestFinished(() => queries.mockRestore());
  await wire('/pages/small', {});
  expect(queries).not.toHaveBeenCalled();
  await wire('/pages/none', {});
  await wire('/pages/none', {});
  expect(queries).toHaveBeenCalledTimes(2);
});

interface Parts {
  status?: number;
  database?: string;
  age?: number;
  isKept?: boolean;
  turns?: Turns;
}

/** A target that was noted, and the answer kept for it. */
function kept({ status = 200, database = 'now', age = 0, isKept = true, turns = createTurns() }: Parts) {
  const answer = answerOf({ status, body: {} });
  const sent: number[] = [];
  const targets = createKeptTargets({
    latest: { currentStore: () => ({ database }), age: () => age } as Latest,
    shared: { kept: () => (isKept ? answer : null) } as unknown as SharedAnswers,
    packed: createPackedAnswers(1_000),
    turns,
    backlog: { note: () => {} } as SendBacklog,
    ...{ addressOf: () => 'a', commonHeaders: [], reporting: {} },
  });
  targets.note('/x', answerOf({ status: 200, body: {} }), { database: 'now', key: 'x', path: '/x' });
  return async (url: string) => {
    const res = { writeHead: (code: number) => void sent.push(code), end: () => {} };
    const ctx = {
      req: { method: 'GET', url, headers: {}, socket: {} },
      res,
      headers: {},
      state: {},
      get: () => '',
    };
    const next = vi.fn();
    await targets.answer(ctx as never, next);
    return { sent, passedOn: next.mock.calls.length, state: ctx.state };
  };
}

test('a kept 200 is sent; any other request is passed on, with its turn if it already has one', async () => {
  expect(await kept({})('/x')).toEqual({ sent: [200], passedOn: 0, state: {} });
  expect(await kept({})('/y')).toEqual({ sent: [], passedOn: 1, state: {} });
  const inItsTurn = { startedAt: expect.any(Number), chargeThread: expect.any(Function) };
  const passed = { sent: [], passedOn: 1, state: inItsTurn };
  expect(await kept({ isKept: false })('/x')).toEqual(passed);
  // A replay has switched to another database.
  expect(await kept({ database: 'other' })('/x')).toEqual(passed);
  // Such an answer needs an Age header.
  expect(await kept({ age: 1_000 })('/x')).toEqual(passed);
  expect(await kept({ status: 404 })('/x')).toEqual(passed);
});

test('a request that is refused a turn is passed on with the BusyError, and nothing is sent', async () => {
  const turns = () => Promise.reject(new BusyError('too many requests are waiting'));
  const { sent, passedOn, state } = await kept({ turns })('/x');
  expect([sent, passedOn, state]).toEqual([
    [],
    1,
    { startedAt: expect.any(Number), refusal: expect.any(BusyError) },
  ]);
});
