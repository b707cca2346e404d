import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import '../../../ingest/log/kafka/client.ts';
import type { Runner } from '../../../ingest/log/kafka/kafkajs/stop.ts';

/** More looks at the brokers than a consumer that stops can take. */
const FOR_EVER = 1_000;

type Options = { consumerGroup: object; [name: string]: unknown };
const KafkaRunner = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js') as new (
  options: Options,
) => Runner & { start(): Promise<void>; stop(): Promise<void> };

test('a kafkajs consumer stops even when a broker joins while another has not answered yet', async () => {
  const fetching = Promise.withResolvers<void>();
  const renewing = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  let brokers = [1, 2];
  let looks = 0;
  const logger = {
    namespace: () => logger,
    debug: (message: string) => void (message === 'Stopping fetchers...' && renewing.resolve()),
    info: () => {},
    warn: () => {},
    error: () => {},
  };
  const consumerGroup = {
    connect: async () => {},
    joinAndSync: async () => {},
    leave: async () => left.resolve(),
    heartbeat: async () => {},
    getNodeIds: () => {
      looks += 1;
      if (looks > FOR_EVER) throw new TypeError('it asks for ever');
      return brokers;
    },
    fetch: async (nodeId: number) => {
      if (nodeId === 2) {
        fetching.resolve();
        await answer.promise;
      } else await new Promise(setImmediate);
      return [];
    },
  };
  const crashed = Promise.withResolvers<never>();
  const runner = new KafkaRunner({
    consumerGroup,
    logger,
    instrumentationEmitter: { emit: () => {} },
    concurrency: 1,
    onCrash: crashed.reject,
    retry: { initialRetryTime: 1 },
  });
  await runner.start();
  await fetching.promise;
  brokers = [1, 2, 3];
  await renewing.promise;
  const stopped = runner.stop();
  answer.resolve();
  await Promise.race([Promise.all([stopped, left.promise]), crashed.promise]);
  expect(runner.running).toBe(false);
});
