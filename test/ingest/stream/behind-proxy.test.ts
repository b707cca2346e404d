import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import * as grpc from '@grpc/grpc-js';
import { GetVersionResponse } from '@triton-one/yellowstone-grpc';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createGeyserClient } from '../../../ingest/stream/geyser/client.ts';

/** Requests to the machine's proxy, which forwards none. */
let asked: string[];
let proxy: net.Server;
beforeEach(async () => {
  asked = [];
  proxy = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      asked.push(String(head).split('\r\n')[0] as string);
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    });
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  for (const name of ['grpc_proxy', 'no_grpc_proxy', 'no_proxy']) vi.stubEnv(name, '');
  vi.stubEnv('https_proxy', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  proxy.close();
});

/** A stream's server that answers GetVersion with this name. */
async function named(version: string): Promise<{ port: number; close(): void }> {
  const server = new grpc.Server();
  const [requestDeserialize, responseSerialize] = [(bytes: Buffer) => bytes, (bytes: Buffer) => bytes];
  const GetVersion = {
    ...{ path: '/geyser.Geyser/GetVersion', requestStream: false, responseStream: false },
    ...{ requestSerialize: responseSerialize, requestDeserialize },
    ...{ responseSerialize, responseDeserialize: requestDeserialize },
  };
  const said = Buffer.from(GetVersionResponse.encode({ version }).finish());
  server.addService(
    { GetVersion },
    {
      GetVersion: (_: unknown, answer: grpc.sendUnaryData<Buffer>) => answer(null, said),
    },
  );
  const credentials = grpc.ServerCredentials.createInsecure();
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound))),
  );
  return { port, close: () => server.forceShutdown() };
}

test.each(['127.0.0.1', 'localhost'])('a stream at %s bypasses the proxy', async (host) => {
  const server = await named('the local chain');
  const client = createGeyserClient(`http://${host}:${server.port}`, null);
  expect(await client.version()).toBe('the local chain');
  expect(asked).toEqual([]);
  client.close();
  server.close();
});

test('a stream at [::1] bypasses the proxy, even where nothing listens', async () => {
  const client = createGeyserClient('http://[::1]:1', null);
  await expect(client.version()).rejects.toThrow();
  expect(asked).toEqual([]);
  client.close();
});

test('a stream at any other host goes through the proxy of the environment', async () => {
  const client = createGeyserClient('https://stream.example', null);
  await expect(client.version()).rejects.toThrow();
  expect(asked).toContain('CONNECT stream.example:443 HTTP/1.1');
  client.close();
});
