import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { superviseStream } from '../../../ingest/stream/core-stream/supervisor.ts';
import type { GeyserClient, StreamHandlers } from '../../../ingest/stream/geyser/client.ts';
import { StreamEndedError } from '../../../ingest/stream/geyser/ended.ts';
import type { Update } from '../../../ingest/stream/geyser/update.ts';
import { Slots } from '../../../ingest/stream/slots/machine.ts';
import { createLogger } from '../../../runtime/process/log.ts';

const large = (slot: bigint, index: number): Update => ({
  type: 'transaction',
  slot,
  signature: new Uint8Array(64).fill(index + 1),
  index,
  payload: new Uint8Array(1_000),
});
const meta = (slot: bigint): Update => ({ type: 'blockMeta', slot, parent: slot - 1n, blockTime: 1 });

/** Far more requests than are needed. */
const MOST_ASKED = 10;

/** A server that sends transactions before their slot's meta, with one slot that is too large to be held. */
function serverOf(huge: bigint, asked: (bigint | null)[]): GeyserClient {
  const serve = async (fromSlot: bigint | null, { onUpdate, onEnd }: StreamHandlers) => {
    let ended = false;
    const end = (reason: string) => {
      if (!ended) onEnd(new StreamEndedError(status.CANCELLED, reason));
      ended = true;
    };
    cancels.push(end);
    const first = fromSlot ?? huge + 5n;
    for (let slot = first; slot < first + 4n && !ended; slot += 1n) {
      for (let index = 0; slot === huge && index < 40 && !ended; index += 1) onUpdate(large(slot, index));
      await Promise.resolve();
      if (!ended) onUpdate(meta(slot));
      if (!ended) onUpdate({ type: 'slot', slot, parent: slot - 1n, state: 'confirmed' });
    }
  };
  const cancels: ((reason: string) => void)[] = [];
  return {
    subscribe: ({ fromSlot }, handlers) => {
      asked.push(fromSlot);
      const at = cancels.length;
      queueMicrotask(() => void serve(fromSlot, handlers));
      return {
        cancel: (reason) => cancels[at]?.(reason),
        pause: () => undefined,
        resume: () => undefined,
        resubscribe: () => undefined,
      };
    },
    firstReplayed: async () => 0n,
    version: async () => 'test',
    renew: () => undefined,
    close: () => undefined,
  };
}

test('a slot that is larger than may be pending is left to history, and the stream goes on behind it', async () => {
  const stopping = new AbortController();
  const slots = new Slots('confirmed', 10n, { maxPendingBytes: 20_000 });
  const [asked, outOfReach]: [(bigint | null)[], bigint[]] = [[], []];
  await superviseStream({
    client: serverOf(12n, asked),
    rpc: null as never,
    slots,
    outbox: { full: () => false, roomy: async () => undefined },
    logger: createLogger('silent', 'test'),
    signal: stopping.signal,
    subscription: (fromSlot) => ({ programId: 'p', addresses: [], commitment: 'confirmed', fromSlot }),
    onUpdate: () => {
      if (slots.last !== null && slots.last > 12n) stopping.abort();
    },
    onOutOfReach: (slot) => void outOfReach.push(slot),
    onHole: () => undefined,
    onBegin: () => undefined,
    onEnd: () => {
      if (asked.length > MOST_ASKED) stopping.abort();
    },
  });
  expect(outOfReach).toEqual([12n]);
  expect(slots.last).toBeGreaterThan(12n);
  // Requests from the slot before it, and now and then without a replay.
  expect(new Set(asked)).toEqual(new Set([10n, 11n, null]));
});
