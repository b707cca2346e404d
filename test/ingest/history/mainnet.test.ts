import * as grpc from '@grpc/grpc-js';
import { SlotStatus, SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import { expect, test } from 'vitest';
import { createGeyserClient } from '../../../ingest/stream/geyser/client.ts';
import { type ReleasedSlot, Slots } from '../../../ingest/stream/slots/machine.ts';
import { fixture } from '../../schemas/support/fixtures.ts';

/** Slot updates of mainnet in their order: a status, with the parent where it was sent, or a block meta. */
type Notice =
  | [slot: string, status: number, parent?: string]
  | { slot: string; parent: string; time: string };

function recordedUpdates(): Buffer[] {
  return (fixture('geyser/mainnet-slots.json') as Notice[]).map((notice) =>
    Buffer.from(SubscribeUpdate.encode(updateOf(notice)).finish()),
  );
}

function updateOf(notice: Notice): SubscribeUpdate {
  if (Array.isArray(notice)) {
    const [slot, status, parent] = notice;
    return SubscribeUpdate.fromPartial({
      slot: { slot, status, ...(parent === undefined ? {} : { parent }) },
    });
  }
  const { slot, parent, time } = notice;
  return SubscribeUpdate.fromPartial({
    blockMeta: { slot, parentSlot: parent, blockTime: { timestamp: time } },
  });
}

/** A geyser.Geyser that answers every subscription with the recorded bytes, then ends. */
async function serve(updates: readonly Buffer[]): Promise<{ port: number; stop(): void }> {
  const raw = (bytes: Buffer) => bytes;
  const server = new grpc.Server();
  server.addService(
    {
      subscribe: {
        path: '/geyser.Geyser/Subscribe',
        requestStream: true,
        responseStream: true,
        requestSerialize: raw,
        requestDeserialize: raw,
        responseSerialize: raw,
        responseDeserialize: raw,
      },
    },
    {
      subscribe: (call: grpc.ServerDuplexStream<Buffer, Buffer>) => {
        call.sendMetadata(new grpc.Metadata());
        call.on('error', () => {});
        call.once('data', async () => {
          for (const update of updates) {
            if (!call.write(update)) await new Promise((resolve) => call.once('drain', resolve));
          }
          call.end();
        });
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { port, stop: () => server.forceShutdown() };
}

async function released(updates: readonly Buffer[], start: bigint | null): Promise<ReleasedSlot[]> {
  const server = await serve(updates);
  const client = createGeyserClient(`127.0.0.1:${server.port}`, null);
  const slots = new Slots('confirmed', start);
  const found: ReleasedSlot[] = [];
  const program = '11111111111111111111111111111111';
  await new Promise<void>((resolve) => {
    client.subscribe(
      { programId: program, addresses: [], commitment: 'confirmed', fromSlot: null },
      {
        onUpdate: (update) => {
          for (const output of slots.take(update)) if (output.type === 'released') found.push(output.slot);
        },
        onEnd: () => resolve(),
      },
    );
  });
  client.close();
  server.stop();
  return found;
}

test('every confirmed slot of the recorded mainnet stream is released once, in order, with its parent and block time', async () => {
  const updates = recordedUpdates();
  const metas = new Map<string, { parent: string; time: string | undefined }>();
  const confirmed = new Set<string>();
  for (const bytes of updates) {
    const { slot, blockMeta } = SubscribeUpdate.decode(bytes);
    if (blockMeta !== undefined) {
      metas.set(blockMeta.slot, { parent: blockMeta.parentSlot, time: blockMeta.blockTime?.timestamp });
    }
    if (slot?.status === SlotStatus.SLOT_CONFIRMED || slot?.status === SlotStatus.SLOT_FINALIZED) {
      confirmed.add(slot.slot);
    }
  }
  const expected = [...metas]
    .map(([slot, meta]) => ({
      slot: BigInt(slot),
      parent: BigInt(meta.parent),
      blockTime: Number(meta.time),
    }))
    .filter(({ slot }) => [...confirmed].some((seen) => BigInt(seen) >= slot))
    .sort((a, b) => (a.slot < b.slot ? -1 : 1));
  expect(expected.length).toBeGreaterThan(20);
  const first = expected[0] as (typeof expected)[number];

  const found = await released(updates, first.parent);

  expect(found.map(({ slot, parent, blockTime }) => ({ slot, parent, blockTime }))).toEqual(expected);
});
