import { expect, onTestFinished, test } from 'vitest';
import { mustBeIndexedChain } from '../../start/local-chain.ts';
import { appliedRow, eventRow } from '../api/support/rows.ts';
import { embeddedDatabase } from '../support/embedded.ts';

const T = 1_760_000_000;

test('a local chain that began anew ends the start with what to remove; the indexed chain is accepted', async () => {
  const store = await embeddedDatabase('several');
  onTestFinished(() => store.close());
  const chainAt = (begunAt: number, tip: bigint) => ({
    getSlot: async () => tip,
    getBlockTime: async (slot: bigint) => (slot > tip ? null : begunAt + Number(slot)),
  });
  const own = chainAt(T, 9_000n);
  // Nothing is indexed yet.
  await mustBeIndexedChain(store, chainAt(T + 900, 9_000n));
  await store.insert('applied', [
    appliedRow('transactions', 0, { slot: '5000', block_time: T + 5_000, log_offset: '9' }),
  ]);
  await mustBeIndexedChain(store, chainAt(T + 900, 9_000n));
  const event = (slot: number) => eventRow('m', 'Routed', 0, { slot: `${slot}`, block_time: T + slot });
  await store.insert('events', [event(3_000), event(4_500)]);

  await mustBeIndexedChain(store, own);
  // The chain lost its end as the machine lost power.
  await mustBeIndexedChain(store, chainAt(T, 4_400n));
  const words = /slot 3000 was at 2025-10-09T09:43:20\.000Z: the chain (.*)\. It began anew: remove/;
  const refused = async (chain: typeof own) => {
    const error = await mustBeIndexedChain(store, chain).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ name: 'ConfigError' });
    return words.exec((error as Error).message)?.[1];
  };
  expect(await refused(chainAt(T + 900, 9_000n))).toBe('has it at 2025-10-09T09:58:20.000Z');
  expect(await refused(chainAt(T, 2_999n))).toBe('ends at slot 2999');
});
