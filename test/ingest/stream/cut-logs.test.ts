import { expect, test } from 'vitest';
import { createCutLogsReader } from '../../../ingest/stream/cut-logs.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import type { LogRecord, TransactionRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { legibility } from '../../../schemas/transaction/legibility.ts';
import { toJson } from '../../schemas/support/encode-transaction.ts';
import { ours, theirs } from '../../schemas/support/program-calls.ts';
import { run } from '../../schemas/support/run.ts';
import { awaited } from '../../support/awaited.ts';

const SIGNATURE = encodeBase58(new Uint8Array(64).fill(7));

test('one that was told in a slot which died is read again where it landed, and there once', async () => {
  const reply = JSON.parse(Buffer.from(toJson(run([ours()]), false)).toString());
  const landed = { ...reply, slot: 30, transaction: { ...reply.transaction, signatures: [SIGNATURE] } };
  const abort = new AbortController();
  const read: LogRecord[] = [];
  let asked = 0;
  const getTransaction = async () => {
    asked += 1;
    return landed;
  };
  const reader = createCutLogsReader({
    rpc: { getTransaction } as unknown as Rpc,
    send: async (records) => void read.push(...records),
    logger: createLogger('silent', 'test'),
    signal: abort.signal,
  });
  const told = (slot: bigint) => reader.addKnown({ signature: SIGNATURE, slot, blockTime: null });
  told(12n);
  await awaited(() => expect(asked).toBe(1));
  expect(read).toEqual([]);
  told(30n);
  await awaited(() => expect(read).toMatchObject([{ kind: 'transaction', slot: 30n }]));
  told(30n);
  const before = asked;
  await awaited(() => expect(asked).toBeGreaterThan(before));
  abort.abort();
  expect(read.length).toBe(1);
});

test('half of it, as one node tells it, takes nothing from what the stream told: it is asked for until one has it whole', async () => {
  const whole = JSON.parse(Buffer.from(toJson(run([theirs({ call: ours() })]), false)).toString());
  const landed = { ...whole, slot: 30, transaction: { ...whole.transaction, signatures: [SIGNATURE] } };
  const half = { ...landed, meta: { ...landed.meta, innerInstructions: null, logMessages: null } };
  const abort = new AbortController();
  const read: LogRecord[] = [];
  let asked = 0;
  const reader = createCutLogsReader({
    rpc: {
      getTransaction: async () => {
        asked += 1;
        return asked === 1 ? half : landed;
      },
    } as unknown as Rpc,
    send: async (records) => void read.push(...records),
    logger: createLogger('silent', 'test'),
    signal: abort.signal,
  });
  reader.addKnown({ signature: SIGNATURE, slot: 30n, blockTime: null });
  await awaited(() => expect(read).toHaveLength(1));
  abort.abort();
  expect(asked).toBe(2);
  expect(legibility(read[0] as TransactionRecord)).toBe('whole');
});
