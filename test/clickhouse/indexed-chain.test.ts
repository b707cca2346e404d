import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { ofIndexedChain } from '../../clickhouse/queries/progress/indexed-chain.ts';
import { createRpc } from '../../runtime/rpc/rpc.ts';
import { serveAnswers } from '../support/answering.ts';
import { freshDatabase } from '../support/database.ts';

let store: Store;
beforeAll(async () => {
  store = await freshDatabase();
});
afterAll(() => store.close());

async function startNode(time: number, tip: number) {
  return serveAnswers(({ body }) => {
    const { id, method } = body as { id: number; method: string };
    return { body: { jsonrpc: '2.0', id, result: method === 'getBlockTime' ? time : tip } };
  });
}

test('once a slot is applied, an RPC node of another chain is skipped and a warning names it', async () => {
  const [other, own] = await Promise.all([startNode(1_600_000_000, 901), startNode(1_700_000_010, 902)]);
  const told: string[] = [];
  const rpc = ofIndexedChain(
    createRpc([other.url, own.url], { commitment: 'confirmed' }),
    () => store,
    (words) => told.push(words),
  );
  expect(await rpc.getSlot()).toBe(901n);
  const row = { log_offset: '1', last_signature: null, last_signature_slot: '0', last_signature_index: 0 };
  const at = (slot: string, block_time: string | null) => ({ ...row, slot, block_time, applied_at: '0' });
  await store.insert('applied', [
    { topic: 'accounts', log_partition: 0, ...at('900', '1700000000') },
    { topic: 'transactions', log_partition: 0, ...at('905', null) },
  ]);
  expect(await rpc.getSlot()).toBe(902n);
  expect(told).toEqual([
    'address 1 of the 2 in SOLANA_RPC_URL is of another chain than the stream: nothing is read of it',
  ]);
  await Promise.all([other.close(), own.close()]);
});
