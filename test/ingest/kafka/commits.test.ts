import { expect, test } from 'vitest';
import { createBatchSize } from '../../../ingest/log/kafka/batch-size.ts';
import { applyBatch } from '../../../ingest/log/kafka/reader.ts';
import { createAssembly } from '../../../ingest/log/kafka/record-parts.ts';
import { topicName } from '../../../ingest/log/kafka/topics.ts';
import { createLogger } from '../../../runtime/process/log.ts';

/** Some messages of a partition; `steps` notes what was done with them. */
const batchOf = (offsets: readonly bigint[], steps: string[]) => ({
  topic: topicName('p', 'transactions'),
  partition: 0,
  messages: offsets.map((offset) => ({ offset, writtenAt: 0, value: Buffer.from('no record') })),
  heartbeat: async () => {},
  advancePast: (offset: bigint) => void steps.push(`passed ${offset}`),
  rewind: (offset: bigint) => void steps.push(`rewound to ${offset}`),
  commit: async (next: bigint) => void steps.push(`committed ${next}`),
  running: () => true,
});

const optionsOf = (most: number) => ({
  prefix: 'p',
  logger: createLogger('silent', 'test'),
  assembly: createAssembly(),
  size: createBatchSize(most),
});

test('an offset is committed only after its batch is applied, after however many failed tries', async () => {
  const steps: string[] = [];
  let failures = 2;
  const apply = async ({ entries }: { entries: readonly { offset: bigint }[] }) => {
    const offsets = entries.map(({ offset }) => offset).join(' ');
    failures -= 1;
    steps.push(failures < 0 ? `applied ${offsets}` : `failed ${offsets}`);
    if (failures >= 0) throw new Error('ClickHouse is away');
  };
  const never = new AbortController().signal;
  await applyBatch(batchOf([0n, 1n, 2n], steps), apply, optionsOf(2), () => true, never);
  expect(steps).toEqual([
    ...['failed 0 1', 'failed 0 1', 'applied 0 1', 'committed 2', 'passed 1'],
    ...['applied 2', 'committed 3', 'passed 2'],
  ]);
});

test('a reader that loses its partition while applying a batch halves the next one, then grows again', async () => {
  const offsets = Array.from({ length: 1_000 }, (_, at) => BigInt(at));
  const options = optionsOf(800);
  const tried: number[] = [];
  // The most records that can be applied before the session ends.
  const inTime = 250;
  const read = async (from: number) => {
    let isOwned = true;
    const apply = async ({ entries }: { entries: readonly unknown[] }) => {
      tried.push(entries.length);
      isOwned = entries.length <= inTime;
    };
    const steps: string[] = [];
    const batch = batchOf(offsets.slice(from), steps);
    await applyBatch(batch, apply, options, () => isOwned, new AbortController().signal);
    const committed = steps.filter((step) => step.startsWith('committed')).at(-1);
    return committed === undefined ? from : Number(committed.split(' ')[1]);
  };
  let next = 0;
  let readings = 0;
  while (next < offsets.length && readings < 10) {
    next = await read(next);
    readings += 1;
  }
  expect(tried).toEqual([800, 400, 200, 225, 254, 127, 143, 161, 144]);
  expect(next).toBe(1_000);
});

test('a reader that loses its partition with any batch of two or more goes on one record at a time', async () => {
  const offsets = Array.from({ length: 60 }, (_, at) => BigInt(at));
  const options = optionsOf(5_000);
  let next = 0;
  for (let readings = 0; next < offsets.length && readings < 200; readings += 1) {
    let isOwned = true;
    const apply = async ({ entries }: { entries: readonly unknown[] }) => {
      isOwned = entries.length === 1;
      if (isOwned) next += 1;
    };
    const batch = batchOf(offsets.slice(next), []);
    await applyBatch(batch, apply, options, () => isOwned, new AbortController().signal);
  }
  expect(next).toBe(60);
});
