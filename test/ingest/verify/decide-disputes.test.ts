import { expect, test } from 'vitest';
import { decideDispute } from '../../../ingest/verify/decide-disputes.ts';
import type { TransactionRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { toJson } from '../../schemas/support/encode-transaction.ts';
import { credit, ours, PROGRAM, theirs } from '../../schemas/support/program-calls.ts';
import { run } from '../../schemas/support/run.ts';

const SIGNATURE = new Uint8Array(64).fill(7);
const disputed = {
  info: { signature: encodeBase58(SIGNATURE), slot: 5n, blockTime: null, failed: false },
  stored: { disputed: { index: 3 } },
} as Parameters<typeof decideDispute>[0];

/** A node's answer for a transaction in which another program calls ours. @param meta replaces parts of its meta */
function reading(meta: object): TransactionRecord {
  const told = JSON.parse(
    Buffer.from(toJson(run([theirs({ call: ours({ emitCpi: credit(1) }) })]), false)).toString(),
  );
  Object.assign(told.meta, meta);
  return {
    ...{ kind: 'transaction', source: 'rpc', slot: 5n, blockTime: null, signature: SIGNATURE },
    ...{ index: null, order: 0, format: 'json', payload: Buffer.from(JSON.stringify(told)) },
  };
}

test('a complete reading decides a dispute, and one without logs and inner instructions does not', async () => {
  const decide = (meta: object) => decideDispute(disputed, PROGRAM, async () => reading(meta));
  expect(await decide({})).toMatchObject({ standing: 'decides', index: 3 });
  const told = await decide({ logMessages: null, innerInstructions: null });
  expect(told).not.toBeNull();
  expect(told).not.toHaveProperty('standing');
});
