import { afterEach, expect, test, vi } from 'vitest';
import type { ConsumeOptions, KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { createKafkaReader } from '../../../ingest/log/kafka/reader.ts';
import { createLogger } from '../../../runtime/process/log.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/**
 * Runs a reader whose consumers crash after so many milliseconds each, on fake time, and the last never.
 * @returns the pause before each consumer after the first, and the reported crashes
 */
async function pausesBetween(lifetimes: readonly number[]): Promise<{ pauses: number[]; told: string[] }> {
  vi.useFakeTimers();
  // The longest that a pause can be.
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const stop = new AbortController();
  const told: string[] = [];
  const pauses: number[] = [];
  let begun = 0;
  let crashed: number | null = null;
  const consume = async ({ onAssigned, onCrash }: ConsumeOptions) => {
    if (crashed !== null) pauses.push(performance.now() - crashed);
    const lifetime = lifetimes[begun];
    begun += 1;
    const name = `refused ${begun}`;
    onAssigned(new Map());
    const crash = () => {
      crashed = performance.now();
      onCrash(new Error(name));
    };
    if (lifetime === 0) crash();
    else if (lifetime !== undefined) setTimeout(crash, lifetime);
    return { seek: () => {}, stop: async () => {} };
  };
  const reader = createKafkaReader({ consume } as unknown as KafkaClient, {
    ...{ prefix: 'p', group: 'g', logger: createLogger('silent', 'test') },
    onEnded: ({ message }) => void told.push(message),
  });
  const running = reader.run(async () => {}, stop.signal);
  await vi.advanceTimersByTimeAsync(1_000_000);
  stop.abort();
  await running;
  return { pauses, told };
}

test('a reader whose consumers keep crashing waits ever longer between new ones, and reports every crash', async () => {
  const { pauses, told } = await pausesBetween(Array.from({ length: 9 }, () => 0));
  expect(pauses).toEqual([400, 800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000, 15_000]);
  expect(told).toEqual(pauses.map((_, at) => `refused ${at + 1}`));
});

test('a consumer that ran for a minute before it crashed resets the pause to the shortest, a shorter run does not', async () => {
  const { pauses } = await pausesBetween([0, 0, 59_999, 0, 60_000, 0, 0]);
  expect(pauses).toEqual([400, 800, 1_600, 3_200, 200, 400, 800]);
});
