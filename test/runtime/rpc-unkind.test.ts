import tls from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { upstreamWords } from '../../runtime/outside/upstream.ts';
import { RpcError } from '../../runtime/rpc/error.ts';
import { createRpc } from '../../runtime/rpc/rpc.ts';
import { awaited, PATIENCE_MS } from '../support/awaited.ts';
import { CERTIFICATE, trusting } from '../support/certificate.ts';
import { openSwitchboard, type Switchboard } from '../support/switchboard.ts';
import { BOMB, NO_REPLY, PATIENT_MS, says, whole } from '../support/unkind-http.ts';

let board: Switchboard;
beforeEach(async () => {
  board = await openSwitchboard();
});
afterEach(() => board.close());

const answer = (body: unknown) => says(whole(JSON.stringify(body)));

const UNKIND: typeof NO_REPLY = {
  ...NO_REPLY,
  'a page of HTML with 200': [
    says(whole('<html>', 'content-type: text/html\r\n')),
    /^no answer$/,
    PATIENT_MS,
  ],
  'a page of HTML with 502': [
    says(whole('<html>', 'content-type: text/html\r\n', '502 Bad Gateway')),
    /^no answer$/,
    PATIENT_MS,
  ],
  'another request answered': [answer({ jsonrpc: '2.0', id: 777, result: 5 }), /^no answer$/, PATIENT_MS],
  'a list in place of an answer': [answer([{ jsonrpc: '2.0', id: 1, result: 5 }]), /^no answer$/, PATIENT_MS],
  'no result': [answer({ jsonrpc: '2.0', id: 1, result: null }), /^no answer$/, PATIENT_MS],
};

const failureOf = (asked: Promise<unknown>) =>
  asked.then(
    () => null,
    (error: unknown) => error,
  );

test.each(Object.entries(UNKIND))(
  '%s: the call fails as unreachable in our own words, and succeeds once the node answers',
  async (_, [answers, words, timeoutMs]) => {
    board.answer(answers);
    const rpc = createRpc(`http://127.0.0.1:${board.port}`, { commitment: 'confirmed', timeoutMs });
    const failure = await failureOf(rpc.getSlot());
    expect(failure).toBeInstanceOf(RpcError);
    expect(upstreamWords(failure)).toMatch(words);
    expect((failure as RpcError).kind).toBe('unreachable');
    board.answer((socket) =>
      socket.once('data', (bytes) => {
        const id = /"id":(\d+)/.exec(bytes.toString())?.[1];
        socket.end(whole(`{"jsonrpc":"2.0","id":${id},"result":5}`, 'content-type: text/plain\r\n'));
      }),
    );
    // Retried, however slow the machine is just now.
    expect(await awaited(() => rpc.getSlot())).toBe(5n);
  },
);

test('a reply that is large once it is unpacked takes less than 32 MiB of buffers', async () => {
  board.answer(says(whole(BOMB, 'content-encoding: gzip\r\n')));
  const rpc = createRpc(`http://127.0.0.1:${board.port}`, { commitment: 'confirmed' });
  const before = process.memoryUsage().arrayBuffers;
  await failureOf(rpc.getSlot());
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
});

test('each TLS failure is named: untrusted certificate, other host, TLS on http, no TLS on https', async () => {
  const ask = async (scheme: string) => {
    const rpc = createRpc(`${scheme}://127.0.0.1:${board.port}`, {
      commitment: 'confirmed',
      timeoutMs: PATIENT_MS,
    });
    return upstreamWords(await failureOf(rpc.getSlot()));
  };
  board.answer((socket) => {
    const server = tls.createServer(CERTIFICATE);
    server.on('tlsClientError', () => {});
    server.emit('connection', socket);
  });
  expect(await ask('https')).toBe('its certificate is not valid');
  expect(await ask('http')).toMatch(/^no HTTP answers$|^connection lost$/);
  expect(await trusting(() => ask('https'))).toBe('its certificate is of another host');
  board.answer(says(whole('{}')));
  expect(await ask('https')).toBe('no TLS answers');
});

test('an unknown host name fails as "no such host"', async () => {
  const rpc = createRpc('http://nobody.invalid', { commitment: 'confirmed', timeoutMs: PATIENCE_MS });
  expect(upstreamWords(await failureOf(rpc.getSlot()))).toBe('no such host');
});
