import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Chain, createChain } from '../../devnet/chain/chain.ts';
import type { Ledger, StoredAccount } from '../../devnet/chain/ledger.ts';
import { createLife, type Life } from '../../devnet/life/life.ts';
import { bytesOf, keyOf } from '../../devnet/program/state/keys.ts';
import { createPast } from '../../devnet/rpc/past.ts';

const SEED = 'past of a node';
const BEHIND = 32n;
let chain: Chain;
let life: Life;
/** Every write of every account, from the blocks. */
const told = new Map<string, StoredAccount[]>();

beforeAll(async () => {
  chain = createChain({ dir: null, seed: SEED, genesisTime: 1_760_000_000_000, skipChance: 0 });
  chain.subscribe(({ slot, writes }) => {
    for (const write of writes) {
      const key = keyOf(write.address);
      told.set(key, [...(told.get(key) ?? []), { ...write, slot }]);
    }
  });
  life = createLife(chain, { seed: SEED, policies: 6, rate: 1 });
  await grow(200);
});
afterAll(() => chain.close());

async function grow(blocks: number) {
  for (let made = 0; made < blocks; made += 1) await chain.produce(life.next());
}
const at = (key: string, slot: bigint) => told.get(key)?.findLast((write) => write.slot <= slot) ?? null;

test('an account at a past slot is as its last write up to then left it, while the chain grows', async () => {
  const past = createPast(chain);
  for (let asked = 0; asked < 12; asked += 1) {
    const { slot: tip } = chain.tip();
    for (const slot of [tip, tip - 1n, tip - BEHIND, tip - 599n, tip - 900n])
      for (const key of told.keys()) expect(past.account(bytesOf(key), slot)).toEqual(at(key, slot));
    await grow(100);
  }
});

test('of writes further back than any node is behind, at most one per account is remembered', async () => {
  const past = createPast(chain);
  const owner = bytesOf(chain.programId);
  const ask = () => past.accountsByOwner(owner, chain.tip().slot - BEHIND);
  ask();
  for (let asked = 0; asked < 15; asked += 1) {
    await grow(100);
    ask();
  }
  const { slot: tip } = chain.tip();
  const recent = [...told.values()].flat().filter(({ slot }) => slot >= tip - 700n).length;
  expect(past.held()).toBeLessThanOrEqual(recent + told.size);
});

test('an account first written later is looked for in no block, an older one only once', async () => {
  life = createLife(chain, { seed: SEED, policies: 60, rate: 1 });
  await grow(30);
  let looked = 0;
  const counted: Ledger = {
    ...chain,
    block: (slot) => {
      looked += 1;
      return chain.block(slot);
    },
  };
  const past = createPast(counted);
  const keys = [...told.keys()];
  const firstWrite = (key: string) => told.get(key)?.[0]?.slot ?? 0n;
  const slot = BigInt(Math.max(...keys.map((key) => Number(firstWrite(key))))) - 1n;
  const ask = (some: string[]) => {
    looked = 0;
    for (const key of some) past.account(bytesOf(key), slot);
    return looked;
  };
  past.accountsByOwner(bytesOf(chain.programId), slot);
  expect(ask(keys.filter((key) => firstWrite(key) > slot))).toBe(0);
  ask(keys);
  expect(ask(keys)).toBe(0);
});
