import { CommitmentLevel } from '@triton-one/yellowstone-grpc';
import { expect, onTestFinished, test } from 'vitest';
import { createChain } from '../../devnet/chain/chain.ts';
import { serveGeyser } from '../../devnet/geyser/server.ts';
import { createLife } from '../../devnet/life/life.ts';
import { serveRpc } from '../../devnet/rpc/server.ts';
import { rawClient } from './support/geyser-call.ts';

test('after a run of skipped slots, RPC nodes and the stream’s getSlot name a slot that has a block', async () => {
  const chain = createChain({ dir: null, seed: 'skipped', genesisTime: 1_760_000_000_000, skipChance: 0 });
  const life = createLife(chain, { seed: 'skipped', policies: 2 });
  for (let made = 0; made < 10; made += 1) await chain.produce(life.next());
  const before = Number(chain.tip().slot);
  chain.skipTo(chain.tip().slot + 1_000n);
  for (let made = 0; made < 3; made += 1) await chain.produce(life.next());
  const rpc = await serveRpc({ ledger: chain, port: 0, manners: { pool: [0, 17] } });
  const geyser = await serveGeyser({ ledger: chain, port: 0 });
  const client = rawClient(geyser.port);
  onTestFinished(async () => {
    client.close();
    await Promise.all([rpc.close(), geyser.close()]);
    chain.close();
  });
  const ask = async (method: string, ...params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return ((await (await fetch(rpc.url, { method: 'POST', body })).json()) as { result: unknown }).result;
  };
  const final = { commitment: 'finalized', encoding: 'base64' };
  const confirmed = { ...final, commitment: 'confirmed' };
  const address = chain.addresses.config.address;
  // The pool's two nodes answer in turn.
  expect([await ask('getSlot', final), await ask('getSlot', final)]).toEqual([before, before]);
  expect([await ask('getSlot', confirmed), await ask('getSlot', confirmed)]).toEqual([
    before + 1_002,
    before,
  ]);
  expect(await ask('getAccountInfo', address, final)).toMatchObject({ context: { slot: before } });
  expect(await ask('getMultipleAccounts', [address], final)).toMatchObject({ context: { slot: before } });
  expect(await ask('getBlockTime', before)).toBe(chain.timeOf(BigInt(before)));
  expect(await client.slot(CommitmentLevel.FINALIZED)).toBe(String(before));
});
