import * as grpc from '@grpc/grpc-js';
import {
  GetSlotRequest,
  GetSlotResponse,
  GetVersionResponse,
  PingRequest,
  PongResponse,
  SubscribeReplayInfoResponse,
} from '@triton-one/yellowstone-grpc';
import type { Block, Ledger } from '../chain/ledger.ts';
import { type EncodedBlock, encodeBlock, encodePing } from './encode.ts';
import { createFaults, type GeyserFaults } from './faults.ts';
import { createSubscriber, FINALIZED_BEHIND, type Subscriber } from './subscriber.ts';

export interface GeyserOptions {
  ledger: Ledger;
  host?: string;
  port: number;
  xToken?: string | null;
  /** How many slots back `from_slot` reaches. */
  retentionSlots?: number;
}

export interface GeyserServer {
  port: number;
  faults: GeyserFaults;
  close(): Promise<void>;
}

const PING_MS = 10_000;
const FINALIZED = 2;

type Handler = grpc.handleUnaryCall<Buffer, Buffer>;

function method(name: string, streaming: boolean) {
  return {
    path: `/geyser.Geyser/${name}`,
    requestStream: streaming,
    responseStream: streaming,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  };
}

const SERVICE = {
  subscribe: method('Subscribe', true),
  getVersion: method('GetVersion', false),
  getSlot: method('GetSlot', false),
  subscribeReplayInfo: method('SubscribeReplayInfo', false),
  ping: method('Ping', false),
};

/** Serves the chain as a geyser.Geyser over gRPC. */
export async function serveGeyser(options: GeyserOptions): Promise<GeyserServer> {
  const { ledger, xToken = null } = options;
  const retentionSlots = BigInt(options.retentionSlots ?? 1_000);
  const subscribers = new Set<Subscriber>();
  const cache = new Map<bigint, EncodedBlock>();
  const faults = createFaults(() => {
    for (const subscriber of subscribers) subscriber.end(grpc.status.UNAVAILABLE, 'the server is going down');
  });
  const encoded = (block: Block): EncodedBlock => {
    const known = cache.get(block.slot);
    if (known !== undefined) return known;
    const fresh = encodeBlock(block);
    cache.set(block.slot, fresh);
    if (cache.size > 256) cache.delete(cache.keys().next().value as bigint);
    return fresh;
  };
  const allowed = (metadata: grpc.Metadata) => xToken === null || metadata.get('x-token')[0] === xToken;
  const denied = { code: grpc.status.UNAUTHENTICATED, details: 'no valid x-token' };

  const unary =
    (answer: (request: Buffer) => Uint8Array): Handler =>
    (call, callback) => {
      if (!allowed(call.metadata)) return callback(denied);
      callback(null, Buffer.from(answer(call.request)));
    };
  const oldest = () => {
    const first = ledger.tip().slot - retentionSlots + 1n;
    return first > ledger.firstSlot ? first : ledger.firstSlot;
  };

  const server = new grpc.Server({
    'grpc.max_receive_message_length': 64 * 1024 * 1024,
    'grpc.keepalive_permit_without_calls': 1,
  });
  server.addService(SERVICE, {
    subscribe: (call: grpc.ServerDuplexStream<Buffer, Buffer>) => {
      if (!allowed(call.metadata)) return void call.emit('error', denied);
      // A client waits for the headers before it writes.
      call.sendMetadata(new grpc.Metadata());
      const subscriber = createSubscriber(call, { ledger, retentionSlots, faults, encoded });
      subscribers.add(subscriber);
      const gone = () => {
        subscribers.delete(subscriber);
        subscriber.end(grpc.status.OK, 'gone');
      };
      call.on('cancelled', gone);
      call.on('end', gone);
      call.on('error', () => subscribers.delete(subscriber));
    },
    getVersion: unary(() =>
      GetVersionResponse.encode({
        version: JSON.stringify({ package: 'devnet', version: '1.0.0' }),
      }).finish(),
    ),
    getSlot: unary((request) => {
      const finalized = GetSlotRequest.decode(request).commitment === FINALIZED;
      const slot = ledger.tip().slot - (finalized ? FINALIZED_BEHIND : 0n);
      return GetSlotResponse.encode({ slot: (slot > 0n ? slot : 0n).toString() }).finish();
    }),
    subscribeReplayInfo: unary(() =>
      SubscribeReplayInfoResponse.encode({ firstAvailable: oldest().toString() }).finish(),
    ),
    ping: unary((request) => PongResponse.encode({ count: PingRequest.decode(request).count }).finish()),
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(
      `${options.host ?? '127.0.0.1'}:${options.port}`,
      grpc.ServerCredentials.createInsecure(),
      (error, bound) => (error === null ? resolve(bound) : reject(error)),
    );
  });
  const unsubscribe = ledger.subscribe(() => {
    for (const subscriber of subscribers) subscriber.advance();
  });
  const ping = encodePing();
  const pings = setInterval(() => {
    for (const subscriber of subscribers) if (!faults.stalled()) subscriber.ping(ping);
  }, PING_MS);
  return {
    port,
    faults,
    close: async () => {
      clearInterval(pings);
      unsubscribe();
      server.forceShutdown();
    },
  };
}
