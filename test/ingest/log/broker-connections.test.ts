import { once } from 'node:events';
import net from 'node:net';
import { expect, test, vi } from 'vitest';
import { createConnections } from '../../../ingest/log/kafka/broker-connections.ts';

const closed = (socket: net.Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

test('unref on a closed broker connection adds no listener, however often it is called', async () => {
  const server = net.createServer((peer) => peer.resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  // The clock stands still: the silent broker gets no new connection for the whole test.
  const connections = createConnections(() => 0);
  const connect = () =>
    connections
      .connect({ host: '127.0.0.1', port, ssl: false as never, onConnect: () => {} })
      .on('error', () => {});
  const open = connect();
  await once(open, 'connect');
  connections.timedOut(`127.0.0.1:${port}`);
  await closed(open);
  const refused = connect();
  await closed(refused);
  for (const socket of [open, refused]) {
    for (let times = 0; times < 20; times += 1) socket.unref();
    expect(socket.listenerCount('connect')).toBe(0);
  }
  await new Promise((resolve) => server.close(resolve));
});

test('a silent broker regains its place in the order after a minute, even when the system clock is put back', () => {
  const [silent, other] = ['192.0.2.1:9092', '192.0.2.2:9092'];
  const connections = createConnections();
  connections.timedOut(silent);
  expect(connections.inOrder([silent, other])).toEqual([other, silent]);
  const [ran, told] = [performance.now(), Date.now()];
  const running = vi.spyOn(performance, 'now').mockReturnValue(ran + 60_000);
  const put = vi.spyOn(Date, 'now').mockReturnValue(told - 3_600_000);
  const later = connections.inOrder([silent, other]);
  running.mockRestore();
  put.mockRestore();
  expect(later).toEqual([silent, other]);
});
