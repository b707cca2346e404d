import * as grpc from '@grpc/grpc-js';
import { CommitmentLevel, SubscribeRequest } from '@triton-one/yellowstone-grpc';
import { readUpdate, type Update } from './update.ts';

/** What to stream: everything the program owns, the followed addresses, and transactions that name the program. */
export interface Subscription {
  programId: string;
  addresses: readonly string[];
  commitment: 'confirmed' | 'finalized';
  /** Replay from this slot on; null: from now. */
  fromSlot: bigint | null;
  /** Comes back as `filter` of every block meta that the server sends by this request; it acknowledges nothing else. */
  name?: string;
}

/** Why a stream ended. `code` is the gRPC status, null for a message that is none. */
export class StreamEndedError extends Error {
  override name = 'StreamEndedError';
  readonly code: number | null;

  constructor(code: number | null, message: string) {
    super(message);
    this.code = code;
  }

  /** The server's replay does not reach back to the slot that was asked for. */
  get outOfRange(): boolean {
    return this.code === grpc.status.OUT_OF_RANGE;
  }
}

export interface GeyserStream {
  /** Replaces the whole request on the live stream. */
  resubscribe(subscription: Subscription): void;
  pause(): void;
  resume(): void;
  /** Ends it here; the reason is what `onEnd` is told. */
  cancel(reason: string): void;
}

export interface StreamHandlers {
  onUpdate(update: Update): void;
  /** Called once, when nothing more comes. */
  onEnd(error: StreamEndedError): void;
}

export interface GeyserClient {
  subscribe(subscription: Subscription, handlers: StreamHandlers): GeyserStream;
  close(): void;
}

/** A client of one endpoint: host:port and http://host:port in the clear, https://host[:port] with TLS. */
export function createGeyserClient(endpoint: string, xToken: string | null): GeyserClient {
  const url = new URL(endpoint.includes('://') ? endpoint : `http://${endpoint}`);
  const secure = url.protocol === 'https:';
  const credentials = secure ? grpc.credentials.createSsl() : grpc.credentials.createInsecure();
  const client = new grpc.Client(`${url.hostname}:${url.port || (secure ? 443 : 80)}`, credentials, {
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.max_receive_message_length': 256 * 1024 * 1024,
    // HTTP/2's default of 64 kB is a few hundred kB/s over a long line.
    'grpc-node.flow_control_window': 8 * 1024 * 1024,
    'grpc.initial_reconnect_backoff_ms': 200,
    'grpc.max_reconnect_backoff_ms': 5_000,
  });
  return {
    subscribe: (subscription, handlers) => openStream(client, xToken, subscription, handlers),
    close: () => client.close(),
  };
}

function openStream(
  client: grpc.Client,
  xToken: string | null,
  subscription: Subscription,
  handlers: StreamHandlers,
): GeyserStream {
  const metadata = new grpc.Metadata();
  if (xToken !== null) metadata.set('x-token', xToken);
  const call = client.makeBidiStreamRequest<SubscribeRequest, Update>(
    '/geyser.Geyser/Subscribe',
    (request) => Buffer.from(SubscribeRequest.encode(request).finish()),
    readUpdate,
    metadata,
  );
  let ended = false;
  const end = (code: number | null, message: string) => {
    if (ended) return;
    ended = true;
    handlers.onEnd(new StreamEndedError(code, message));
  };
  call.on('data', (update: Update) => {
    if (ended) return;
    if (update.type === 'ping') call.write(SubscribeRequest.fromPartial({ ping: { id: 1 } }));
    handlers.onUpdate(update);
  });
  call.on('error', (error: grpc.ServiceError) => end(error.code ?? null, error.details || error.message));
  call.on('end', () => end(grpc.status.OK, 'the server ended the stream'));
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
      owned: { owner: [programId] },
      ...(addresses.length === 0 ? {} : { followed: { account: [...addresses] } }),
    },
    transactions: { ours: { accountInclude: [programId], vote: false } },
    slots: { slots: { filterByCommitment: false } },
    blocksMeta: { [name]: {} },
    commitment: COMMITMENTS[commitment],
    ...(fromSlot === null ? {} : { fromSlot: fromSlot.toString() }),
  });
}
