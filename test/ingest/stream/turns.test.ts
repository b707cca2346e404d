import { expect, test } from 'vitest';
import { readInTurns } from '../../../ingest/stream/following/turns.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { account, key } from '../materialise/support/records.ts';

test('what strangers chose is read a hundred at a time, each once for a long while, and told where they are new', async () => {
  const all = Array.from({ length: 230 }, (_, at) => key(`metadata ${at}`));
  const stop = new AbortController();
  const asked: string[][] = [];
  const sent: LogRecord[] = [];
  let rounds = 0;
  await readInTurns({
    read: async (addresses): Promise<AccountRecord[]> => {
      asked.push([...addresses]);
      return addresses.map((address) => ({
        ...account('any', new Uint8Array(32), new Uint8Array(8)),
        address: decodeKey(address) as Uint8Array,
      }));
    },
    addresses: () => {
      rounds += 1;
      if (rounds === 6) stop.abort();
      return all;
    },
    notBefore: () => 5n,
    send: async (records) => {
      sent.push(...records);
    },
    everyMs: 1,
    logger: createLogger('silent', 'test'),
    signal: stop.signal,
  });
  expect(asked.map(({ length }) => length)).toEqual([100, 100, 30]);
  expect(new Set(asked.flat())).toEqual(new Set(all));
  expect(sent.map((record) => (record.kind === 'account' ? encodeBase58(record.address) : ''))).toHaveLength(
    230,
  );
});
