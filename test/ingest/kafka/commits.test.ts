import { expect, test } from 'vitest';
import { applyBatch } from '../../../ingest/log/kafka/reader.ts';
import { createAssembly } from '../../../ingest/log/kafka/record-parts.ts';
import { topicName } from '../../../ingest/log/kafka/topics.ts';
import { createLogger } from '../../../runtime/process/log.ts';

test('an offset is committed once its batch was applied, however often that fails, and not before', async () => {
  const steps: string[] = [];
  let failures = 2;
  const batch = {
    topic: topicName('p', 'transactions'),
    partition: 0,
    messages: [0n, 1n, 2n].map((offset) => ({ offset, writtenAt: 0, value: Buffer.from('no record') })),
    heartbeat: async () => {},
    passed: (offset: bigint) => void steps.push(`passed ${offset}`),
    rewind: (offset: bigint) => void steps.push(`rewound to ${offset}`),
    commit: async (next: bigint) => void steps.push(`committed ${next}`),
    running: () => true,
  };
  const apply = async ({ entries }: { entries: readonly { offset: bigint }[] }) => {
    const offsets = entries.map(({ offset }) => offset).join(' ');
    failures -= 1;
    steps.push(failures < 0 ? `applied ${offsets}` : `failed ${offsets}`);
    if (failures >= 0) throw new Error('ClickHouse is away');
  };
  const assembly = createAssembly();
  const options = { prefix: 'p', logger: createLogger('silent', 'test'), maxBatch: 2, assembly };
  await applyBatch(batch, apply, options, () => true, new AbortController().signal);
  expect(steps).toEqual([
    ...['failed 0 1', 'failed 0 1', 'applied 0 1', 'committed 2', 'passed 1'],
    ...['applied 2', 'committed 3', 'passed 2'],
  ]);
});
