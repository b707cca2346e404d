import { expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { createEventTimes } from '../../../ingest/materialise/times/event-times.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { rawSignature, routed, transaction } from './support/records.ts';

test('an undated event of one partition is known, though another queried the store before it was written', async () => {
  const asked: PromiseWithResolvers<object[]>[] = [];
  const undated = { slot: '1000', signature: encodeBase58(rawSignature('late')), position: 0 };
  const store = {
    query: (sql: string) => {
      if (sql.includes('ORDER BY slot DESC')) {
        const answer = Promise.withResolvers<object[]>();
        asked.push(answer);
        return answer.promise;
      }
      return Promise.resolve(sql.includes('FROM undated_events') ? [undated] : []);
    },
  } as unknown as Store;
  const timesOf = createEventTimes(store);
  const of = (slot: bigint, blockTime: number | null) =>
    transaction('late', slot, [routed(1n)], { blockTime });
  const one = timesOf([of(900n, 1_000)], false);
  const other = timesOf([of(1000n, null)], false);
  // Both ask before the other's rows are written, and the first answer comes last.
  asked[1]?.resolve([]);
  await other;
  asked[0]?.resolve([]);
  await one;
  expect((await timesOf([of(1000n, 1_700)], true)).undated).toEqual([{ ...undated, time: 1_700 }]);
});
