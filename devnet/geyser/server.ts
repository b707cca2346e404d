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
import { slotWithBlock } from '../chain/slot-with-block.ts';
import { type EncodedBlock, encodeBlock, encodePing } from './encode.ts';
import { createFaults, type GeyserFaults } from './faults.ts';
import { NO_LIMITS, type ProviderModes } from './modes.ts';
import { firstAvailable } from './replay.ts';
import { createSubscriber, FINALIZED_BEHIND, type Subscriber, type SubscriberContext } from './subscriber.ts';

export interface GeyserOptions {
  ledger: Ledger;
  host?: string;
  port: number;
  xToken?: string | null;
  /** How many slots back `from_slot` reaches. */
  retentionSlots?: number;
  /** How the stream differs from that of a provider without limits. */
  modes?: Partial<ProviderModes>;
}

export interface GeyserServer {
  port: number;
  faults: GeyserFaults;
  /** Resolves once a client's first filter is applied. */
  followed: Promise<void>;
  /** Changes modes from now on, for streams that are open too. */
  become(modes: Partial<ProviderModes>): void;
  close(): Promise<void>;
}

const PING_MS = 10_000;
/** By how much the write versions of one server of a provider are ahead of the previous server's. */
const VERSIONS_APART = 1_000_000_007n;
/** Largest request that gRPC reads: one above the provider's own limit has to arrive in order to be refused. */
const MOST_RECEIVED_BYTES = 64 * 1024 * 1024;
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
  const cache = new Map<string, EncodedBlock>();
  let modes: ProviderModes = { ...NO_LIMITS, ...options.modes };
  let connections = 0;
  const followed = Promise.withResolvers<void>();
  const faults = createFaults((code, details) => {
    for (const subscriber of subscribers) subscriber.end(code, details);
  });
  const encoded = (block: Block, server: number): EncodedBlock => {
    const key = `${block.slot}/${server}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const fresh = encodeBlock(block, BigInt(server) * VERSIONS_APART);
    cache.set(key, fresh);
    if (cache.size > 256) cache.delete(cache.keys().next().value as string);
    return fresh;
  };
  const endOldest = () => {
    const [oldest] = subscribers;
    if (oldest === undefined) return;
    subscribers.delete(oldest);
    oldest.end(grpc.status.ABORTED, 'a newer stream of this token has begun');
  };
  const allowed = (metadata: grpc.Metadata) => xToken === null || metadata.get('x-token')[0] === xToken;
  const denied = { code: grpc.status.UNAUTHENTICATED, details: 'No valid auth token' };

  const unary =
    (answer: (request: Buffer) => Uint8Array | { code: grpc.status; details: string }): Handler =>
    (call, callback) => {
      if (!allowed(call.metadata)) return callback(denied);
      const answered = answer(call.request);
      if (answered instanceof Uint8Array) callback(null, Buffer.from(answered));
      else callback(answered);
    };
  const reach: SubscriberContext['reach'] = (commitment) => {
    const tip = ledger.tip().slot - (commitment === 'finalized' ? FINALIZED_BEHIND : 0n);
    const oldest = tip - retentionSlots + 1n;
    return { tip, first: oldest > ledger.firstSlot ? oldest : ledger.firstSlot };
  };

  const ping = encodePing();
  const server = new grpc.Server({
    'grpc.max_receive_message_length': MOST_RECEIVED_BYTES,
    'grpc.keepalive_permit_without_calls': 1,
  });
  server.addService(SERVICE, {
    subscribe: (call: grpc.ServerDuplexStream<Buffer, Buffer>) => {
      if (!allowed(call.metadata)) return void call.emit('error', denied);
      const isFull = modes.streams !== null && subscribers.size >= modes.streams;
      const isRefused = isFull && !modes.newest;
      const details = isRefused
        ? `Max amount of streams reached, only ${modes.streams} allowed`
        : faults.limited();
      if (details !== null) return void call.emit('error', { code: grpc.status.RESOURCE_EXHAUSTED, details });
      // A client waits for the headers before it writes.
      call.sendMetadata(new grpc.Metadata());
      const server = connections % modes.servers;
      connections += 1;
      const subscriber = createSubscriber(call, {
        ...{ ledger, faults, reach, following: followed.resolve },
        modes: () => modes,
        encoded: (block) => encoded(block, server),
      });
      if (isFull) endOldest();
      subscribers.add(subscriber);
      subscriber.ping(ping);
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
      const slot = slotWithBlock(ledger, reach(finalized ? 'finalized' : 'confirmed').tip);
      if (slot === null) return { code: grpc.status.INTERNAL, details: 'block is not available yet' };
      return GetSlotResponse.encode({ slot: slot.toString() }).finish();
    }),
    subscribeReplayInfo: unary(() => {
      const first = firstAvailable(modes.replay, reach('confirmed'));
      const answer = first === null ? {} : { firstAvailable: first.toString() };
      return SubscribeReplayInfoResponse.encode(SubscribeReplayInfoResponse.fromPartial(answer)).finish();
    }),
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
  const pings = setInterval(() => {
    for (const subscriber of subscribers) if (!faults.stalled(false)) subscriber.ping(ping);
  }, PING_MS);
  return {
    port,
    faults,
    followed: followed.promise,
    become: (changes) => {
      modes = { ...modes, ...changes };
    },
    close: async () => {
      clearInterval(pings);
      unsubscribe();
      server.forceShutdown();
    },
  };
}
