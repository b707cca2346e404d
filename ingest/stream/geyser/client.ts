import * as grpc from '@grpc/grpc-js';
import {
  CommitmentLevel,
  GetVersionResponse,
  SubscribeReplayInfoResponse,
  SubscribeRequest,
} from '@triton-one/yellowstone-grpc';
import { ConfigError, messageOf } from '../../../runtime/errors.ts';
import { isLoopback } from '../../../runtime/outside/loopback.ts';
import { StreamEndedError } from './ended.ts';
import { readUpdate, type Update } from './update.ts';

/** What to stream; slots and block metas always come. */
export interface Subscription {
  /** Everything that this program owns, and the transactions that name it; null: neither. */
  programId: string | null;
  addresses: readonly string[];
  commitment: 'confirmed' | 'finalized';
  /** Replay from this slot on; null: from now. */
  fromSlot: bigint | null;
  /**
   * Name of the block meta filter. It comes back as `filter` of every block meta that the server sends under this
   * request; nothing else acknowledges a request.
   */
  name?: string;
}

export interface GeyserStream {
  /** Replaces the whole request on the live stream. */
  resubscribe(subscription: Subscription): void;
  pause(): void;
  resume(): void;
  /** Ends the stream from this side; `onEnd` is told the reason. */
  cancel(reason: string): void;
}

export interface StreamHandlers {
  onUpdate(update: Update): void;
  /** Called once, when nothing more comes. */
  onEnd(error: StreamEndedError): void;
}

export interface GeyserClient {
  subscribe(subscription: Subscription, handlers: StreamHandlers): GeyserStream;
  /** The first slot that a replay reaches; null where the server replays nothing. @throws where it does not say */
  firstReplayed(): Promise<bigint | null>;
  /** What the server calls itself. @throws StreamEndedError */
  version(): Promise<string>;
  /**
   * Sends later requests over a new connection: one that has stopped answering may stay so for ever. Open streams keep
   * theirs.
   */
  renew(): void;
  close(): void;
}

const ANSWER_WITHIN_MS = 5_000;
const ANSWER_AT_MOST_EVERY_MS = 1_000;

/** A client of one endpoint: host:port and http://host:port in the clear, https://host[:port] with TLS. */
export function createGeyserClient(endpoint: string, xToken: string | null): GeyserClient {
  const url = new URL(endpoint.includes('://') ? endpoint : `http://${endpoint}`);
  const secure = url.protocol === 'https:';
  const credentials = secure ? overTls() : grpc.credentials.createInsecure();
  const connect = () =>
    new grpc.Client(`${url.hostname}:${url.port || (secure ? 443 : 80)}`, credentials, {
      // gRPC asks the proxy of the environment for whatever no_proxy does not name, the local chain too.
      ...(isLoopback(url.hostname) ? { 'grpc.enable_http_proxy': 0 } : {}),
      // Otherwise clients of one endpoint, also those of `renew`, share a connection.
      'grpc.use_local_subchannel_pool': 1,
      'grpc.keepalive_time_ms': 10_000,
      'grpc.keepalive_timeout_ms': 10_000,
      'grpc.keepalive_permit_without_calls': 1,
      'grpc.max_receive_message_length': 256 * 1024 * 1024,
      // HTTP/2's default window of 64 kB allows only a few hundred kB/s over a long distance.
      'grpc-node.flow_control_window': 8 * 1024 * 1024,
      'grpc.initial_reconnect_backoff_ms': 200,
      'grpc.max_reconnect_backoff_ms': 5_000,
    });
  let client = connect();
  /** Number of open streams by connection: closing a connection ends its streams, a little later. */
  const streams = new Map<grpc.Client, number>([[client, 0]]);
  const left = (own: grpc.Client) => {
    const open = (streams.get(own) ?? 0) - 1;
    streams.set(own, open);
    if (open === 0 && own !== client) leave(own);
  };
  const leave = (own: grpc.Client) => {
    own.close();
    streams.delete(own);
  };
  const ask = (name: string) =>
    new Promise<Buffer>((resolve, reject) => {
      const same = (bytes: Buffer) => bytes;
      const deadline = Date.now() + ANSWER_WITHIN_MS;
      const metadata = metadataOf(xToken);
      client.makeUnaryRequest(
        `/geyser.Geyser/${name}`,
        ...([same, same, Buffer.alloc(0), metadata, { deadline }] as const),
        (error, reply) => {
          if (error === null) resolve(reply ?? Buffer.alloc(0));
          else reject(new StreamEndedError(error.code, error.details));
        },
      );
    });
  return {
    subscribe: (subscription, handlers) => {
      const own = client;
      streams.set(own, (streams.get(own) ?? 0) + 1);
      const onEnd = (error: StreamEndedError) => {
        handlers.onEnd(error);
        left(own);
      };
      return openStream(own, xToken, subscription, { ...handlers, onEnd });
    },
    firstReplayed: async () => {
      const { firstAvailable } = SubscribeReplayInfoResponse.decode(await ask('SubscribeReplayInfo'));
      return firstAvailable === undefined ? null : BigInt(firstAvailable);
    },
    version: async () => GetVersionResponse.decode(await ask('GetVersion')).version,
    renew: () => {
      const old = client;
      client = connect();
      streams.set(client, 0);
      if (streams.get(old) === 0) leave(old);
    },
    close: () => {
      for (const own of streams.keys()) own.close();
    },
  };
}

/** @throws ConfigError where the file of root certificates, which gRPC itself reads, cannot be read */
function overTls(): grpc.ChannelCredentials {
  try {
    return grpc.credentials.createSsl();
  } catch (error) {
    throw new ConfigError(`GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: ${messageOf(error)}`);
  }
}

function metadataOf(xToken: string | null): grpc.Metadata {
  const metadata = new grpc.Metadata();
  if (xToken !== null) metadata.set('x-token', xToken);
  return metadata;
}

function openStream(
  client: grpc.Client,
  xToken: string | null,
  subscription: Subscription,
  handlers: StreamHandlers,
): GeyserStream {
  const call = client.makeBidiStreamRequest<SubscribeRequest, Update>(
    '/geyser.Geyser/Subscribe',
    (request) => Buffer.from(SubscribeRequest.encode(request).finish()),
    readUpdate,
    metadataOf(xToken),
  );
  let ended = false;
  let answeredAt = Number.NEGATIVE_INFINITY;
  const end = (code: number | null, message: string) => {
    if (ended) return;
    ended = true;
    handlers.onEnd(new StreamEndedError(code, message));
  };
  call.on('data', (update: Update) => {
    if (ended) return;
    // One answer shows that this side is alive, however many pings come.
    if (update.type === 'ping' && performance.now() - answeredAt > ANSWER_AT_MOST_EVERY_MS) {
      answeredAt = performance.now();
      call.write(SubscribeRequest.fromPartial({ ping: { id: 1 } }));
    }
    handlers.onUpdate(update);
  });
  call.on('error', ({ code, details, message }: grpc.ServiceError) => {
    end(codeOf(code, details), details || message);
  });
  call.on('end', () => end(grpc.status.OK, ''));
  call.write(requestOf(subscription));
  return {
    resubscribe: (next) => {
      if (!ended) call.write(requestOf(next));
    },
    pause: () => call.pause(),
    resume: () => call.resume(),
    cancel: (reason) => {
      end(grpc.status.CANCELLED, reason);
      call.cancel();
    },
  };
}

/** Start of grpc-js's own error for an impossible length: it has read a gateway's page as an update. */
const NO_UPDATE = 'Received message larger than max';

function codeOf(code: grpc.status | undefined, details: string): grpc.status | null {
  // Not cancelled by this side, which reports its own cancellations by `end`: a proxy did it, or the server says so.
  if (code === grpc.status.CANCELLED) return grpc.status.ABORTED;
  if (code === grpc.status.RESOURCE_EXHAUSTED && details.startsWith(NO_UPDATE)) return grpc.status.INTERNAL;
  return code ?? null;
}

const COMMITMENTS = { confirmed: CommitmentLevel.CONFIRMED, finalized: CommitmentLevel.FINALIZED };

function requestOf({
  programId,
  addresses,
  commitment,
  fromSlot,
  name = 'meta',
}: Subscription): SubscribeRequest {
  return SubscribeRequest.fromPartial({
    accounts: {
      ...(programId === null ? {} : { owned: { owner: [programId] } }),
      ...(addresses.length === 0 ? {} : { followed: { account: [...addresses] } }),
    },
    transactions: programId === null ? {} : { ours: { accountInclude: [programId], vote: false } },
    slots: { slots: { filterByCommitment: false } },
    blocksMeta: { [name]: {} },
    commitment: COMMITMENTS[commitment],
    ...(fromSlot === null ? {} : { fromSlot: fromSlot.toString() }),
  });
}
