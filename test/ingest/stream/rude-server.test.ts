import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import * as grpc from '@grpc/grpc-js';
import { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import { afterEach, expect, test } from 'vitest';
import { createGeyserClient } from '../../../ingest/stream/geyser/client.ts';
import { endWords, replayEnd, type StreamEndedError } from '../../../ingest/stream/geyser/ended.ts';
import { readUpdate, type Update } from '../../../ingest/stream/geyser/update.ts';

type Call = grpc.ServerDuplexStream<Buffer, Buffer>;

let server: grpc.Server | null = null;
afterEach(() => server?.forceShutdown());

const bytes = (value: Buffer) => value;
const SUBSCRIBE = {
  path: '/geyser.Geyser/Subscribe',
  ...{ requestStream: true, responseStream: true },
  ...{
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  },
};

/** What a client gets from a server that does this with each stream. */
async function told(serve: (call: Call) => void): Promise<{ updates: Update[]; ended: StreamEndedError }> {
  const made = new grpc.Server({ 'grpc.max_send_message_length': -1 });
  server = made;
  made.addService({ subscribe: SUBSCRIBE }, { subscribe: serve });
  const port = await new Promise<number>((resolve, reject) =>
    made.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return toldAt(port);
}

async function toldAt(port: number): Promise<{ updates: Update[]; ended: StreamEndedError }> {
  const client = createGeyserClient(`127.0.0.1:${port}`, null);
  const updates: Update[] = [];
  const ended = await new Promise<StreamEndedError>((resolve) =>
    client.subscribe(
      { programId: null, addresses: [], commitment: 'confirmed', fromSlot: 5n },
      { onUpdate: (update) => updates.push(update), onEnd: resolve },
    ),
  );
  client.close();
  return { updates, ended };
}

const account = (data: Uint8Array) =>
  Buffer.from(
    SubscribeUpdate.encode(
      SubscribeUpdate.fromPartial({
        account: { slot: '7', account: { pubkey: new Uint8Array(32), owner: new Uint8Array(32), data } },
      }),
    ).finish(),
  );

test('a stream cancelled by the server does not count as cancelled here, and its words are not served', async () => {
  const { ended } = await told((call) =>
    call.emit('error', { code: grpc.status.CANCELLED, details: 'drained by node-7.internal' }),
  );
  expect(ended.cancelled).toBe(false);
  expect(ended.message).toContain('node-7.internal');
  expect(endWords(ended)).toBe('the provider ended the stream');
  expect(replayEnd(ended)).toBe('perhaps');
});

test('an update of 10 MiB arrives whole', async () => {
  const data = new Uint8Array(10 * 1024 * 1024).fill(7);
  const { updates } = await told((call) => {
    call.write(account(data));
    call.end();
  });
  expect(updates.map((update) => update.type === 'account' && update.data.length)).toEqual([data.length]);
});

test('a gzip-compressed update is decompressed', async () => {
  const packed = gzipSync(account(new Uint8Array(5_000).fill(7)));
  const head = Buffer.from([1, 0, 0, 0, 0]);
  head.writeUInt32BE(packed.length, 1);
  const made = http2.createServer();
  made.on('stream', (stream) => {
    const headers = { 'content-type': 'application/grpc', 'grpc-encoding': 'gzip' };
    stream.respond({ ':status': 200, ...headers }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.concat([head, packed]));
  });
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  const { updates, ended } = await toldAt((made.address() as AddressInfo).port);
  made.close();
  expect(updates.map((update) => update.type === 'account' && update.data.length)).toEqual([5_000]);
  expect(ended.code).toBe(grpc.status.OK);
});

test('an account update of the startup snapshot of a server (isStartup) counts as a reading', async () => {
  const state = { pubkey: new Uint8Array(32), owner: new Uint8Array(32) };
  const of = (isStartup: boolean) =>
    SubscribeUpdate.encode(
      SubscribeUpdate.fromPartial({ account: { slot: '7', isStartup, account: state } }),
    ).finish();
  expect(readUpdate(of(true))).toMatchObject({ type: 'account', slot: 7n, isReading: true });
  expect(readUpdate(of(false))).not.toHaveProperty('isReading');
});

test('an update with an impossible slot, transaction index or parent is rejected, unreadable or ignored', () => {
  const read = (update: object) =>
    readUpdate(SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update as SubscribeUpdate)).finish());
  const never = String(2n ** 64n - 1n);
  const keys = { pubkey: new Uint8Array(32), owner: new Uint8Array(32) };
  expect(() => read({ account: { slot: never, account: keys } })).toThrow(/slot that no chain has$/);
  expect(() => read({ account: { slot: never, account: {} } })).toThrow('without keys');
  const signature = new Uint8Array(64);
  expect(() => read({ transaction: { slot: never, transaction: { signature } } })).toThrow(/no chain has$/);
  const placed = (index: string) => read({ transaction: { slot: '7', transaction: { signature, index } } });
  expect(placed(String(2 ** 32 - 1))).toMatchObject({ type: 'transaction', index: 2 ** 32 - 1 });
  for (const index of [String(2 ** 32), never])
    expect(placed(index)).toEqual({ type: 'unreadable', of: 'transaction', slot: 7n });
  expect(read({ slot: { slot: never, status: 1 } })).toEqual({ type: 'other' });
  expect(read({ blockMeta: { slot: never, parentSlot: '7' } })).toEqual({ type: 'other' });
  expect(read({ blockMeta: { slot: '1000007', parentSlot: '7' } })).toEqual({ type: 'other' });
  expect(read({ blockMeta: { slot: '90', parentSlot: '7' } })).toMatchObject({
    type: 'blockMeta',
    slot: 90n,
  });
});

test('bytes that are no update end the stream, and are reported as a failure of the provider', async () => {
  const { updates, ended } = await told((call) => {
    call.write(account(new Uint8Array(3)));
    call.write(Buffer.from([0x1a, 0xff, 0xff]));
  });
  expect(updates).toHaveLength(1);
  expect(ended.code).toBe(grpc.status.INTERNAL);
  expect(endWords(ended)).toBe('the provider failed');
});
