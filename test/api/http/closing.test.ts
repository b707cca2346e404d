import { once } from 'node:events';
import net from 'node:net';
import Koa from 'koa';
import { expect, test } from 'vitest';
import { listen } from '../../../api/http/listen.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const CONNECTIONS = 8;

test('requests sent but still unread when the server closes are answered, and end their connections', async () => {
  const app = new Koa();
  let asked = 0;
  app.use((ctx) => {
    asked += 1;
    ctx.body = `answer ${asked}`;
  });
  const listening = await listen(app, '127.0.0.1', 0);
  const open = async () => {
    const socket = net.connect(listening.port, '127.0.0.1').setEncoding('utf8');
    socket.write(REQUEST);
    expect(String(await once(socket, 'data'))).toContain('Connection: keep-alive');
    return socket;
  };
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, open));
  const ended = sockets.map(async (socket) => {
    let text = '';
    for await (const part of socket) text += part;
    return text;
  });
  // All in one turn of the event loop, so that the server reads nothing in between.
  for (const socket of sockets) socket.write(REQUEST);
  const closed = listening.close();
  for (const text of await Promise.all(ended)) {
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text).toContain('Connection: close');
  }
  await closed;
  expect(asked).toBe(2 * CONNECTIONS);
});
