import { afterEach, expect, test, vi } from 'vitest';
import type { ConsumeOptions, KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { createKafkaReader } from '../../../ingest/log/kafka/reader.ts';
import { createLogger } from '../../../runtime/process/log.ts';

afterEach(() => void vi.useRealTimers());

const MOST = 1_000;

test('a reader whose consumers keep crashing waits between new ones, and reports every crash', async () => {
  vi.useFakeTimers();
  const stop = new AbortController();
  const told: string[] = [];
  let begun = 0;
  const consume = async ({ onAssigned, onCrash }: ConsumeOptions) => {
    begun += 1;
    if (begun === MOST) stop.abort();
    onAssigned(new Map());
    onCrash(new Error(`refused ${begun}`));
    return { seek: () => {}, stop: async () => {} };
  };
  const reader = createKafkaReader({ consume } as unknown as KafkaClient, {
    ...{ prefix: 'p', group: 'g', logger: createLogger('silent', 'test') },
    onEnded: ({ message }) => void told.push(message),
  });
  const running = reader.run(async () => {}, stop.signal);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(begun).toBeGreaterThan(3);
  expect(begun).toBeLessThan(20);
  expect(told).toEqual(Array.from({ length: begun }, (_, at) => `refused ${at + 1}`));
  stop.abort();
  await running;
});
