import * as grpc from '@grpc/grpc-js';
import {
  CommitmentLevel,
  GetSlotRequest,
  GetSlotResponse,
  SubscribeReplayInfoResponse,
  SubscribeRequest,
  SubscribeUpdate,
} from '@triton-one/yellowstone-grpc';
import { awaited } from '../../support/awaited.ts';

type Filter = Record<string, object>;

/** The parts of SubscribeRequest that tests use. */
export interface Request {
  accounts?: Filter;
  transactions?: Filter;
  slots?: Filter;
  blocksMeta?: Filter;
  commitment?: CommitmentLevel;
  fromSlot?: string;
}

/** One raw call of Subscribe: what came, in its order, and how it ended. */
export interface GeyserCall {
  updates: SubscribeUpdate[];
  ended: { code: number; details: string } | null;
  send(request: Request): void;
  /** Everything that came, each as one word and its slot. */
  words(): string[];
  until(so: () => boolean): Promise<void>;
}

export interface RawClient {
  subscribe(request: Request, token?: string): GeyserCall;
  slot(commitment: CommitmentLevel): Promise<string>;
  firstAvailable(): Promise<string | undefined>;
  close(): void;
}

const STATUS = ['processed', 'confirmed', 'finalized', 'shred', 'completed', 'bank', 'dead'];

function wordOf({ slot, account, transaction, blockMeta, ping }: SubscribeUpdate): string {
  if (slot !== undefined) return `${STATUS[slot.status]} ${slot.slot}`;
  if (account !== undefined) return `account ${account.slot}`;
  if (transaction !== undefined) return `transaction ${transaction.slot}`;
  if (blockMeta !== undefined) return `meta ${blockMeta.slot}`;
  return ping === undefined ? 'other' : 'ping';
}

export function rawClient(port: number): RawClient {
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const unary = (name: string, request: Uint8Array) =>
    new Promise<Buffer>((resolve, reject) => {
      const same = (bytes: Buffer) => bytes;
      client.makeUnaryRequest(`/geyser.Geyser/${name}`, same, same, Buffer.from(request), (error, reply) =>
        error === null ? resolve(reply as Buffer) : reject(error),
      );
    });
  return {
    subscribe: (first, token) => {
      const metadata = new grpc.Metadata();
      if (token !== undefined) metadata.set('x-token', token);
      const call = client.makeBidiStreamRequest<SubscribeRequest, SubscribeUpdate>(
        '/geyser.Geyser/Subscribe',
        (request) => Buffer.from(SubscribeRequest.encode(request).finish()),
        (bytes) => SubscribeUpdate.decode(bytes),
        metadata,
      );
      const updates: SubscribeUpdate[] = [];
      const self: GeyserCall = {
        updates,
        ended: null,
        send: (request) => call.write(SubscribeRequest.fromPartial(request)),
        words: () => updates.map(wordOf),
        until: (so) =>
          awaited(() => {
            if (!so())
              throw new Error(`not yet; ended: ${JSON.stringify(self.ended)}, came: ${self.words()}`);
          }),
      };
      call.on('data', (update: SubscribeUpdate) => updates.push(update));
      call.on('error', ({ code, details }: grpc.ServiceError) => {
        self.ended ??= { code, details };
      });
      call.on('end', () => {
        self.ended ??= { code: 0, details: '' };
      });
      self.send(first);
      return self;
    },
    slot: async (commitment) => {
      const request = GetSlotRequest.encode(GetSlotRequest.fromPartial({ commitment })).finish();
      return GetSlotResponse.decode(await unary('GetSlot', request)).slot;
    },
    firstAvailable: async () =>
      SubscribeReplayInfoResponse.decode(await unary('SubscribeReplayInfo', new Uint8Array())).firstAvailable,
    close: () => client.close(),
  };
}

export const CONFIRMED = CommitmentLevel.CONFIRMED;
export const FINALIZED = CommitmentLevel.FINALIZED;
