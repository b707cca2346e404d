import { expect, onTestFinished, test } from 'vitest';
import { createChain } from '../../devnet/chain/chain.ts';
import type { Ledger } from '../../devnet/chain/ledger.ts';
import { serveGeyser } from '../../devnet/geyser/server.ts';
import { createLife } from '../../devnet/life/life.ts';
import { CONFIRMED, rawClient } from './support/geyser-call.ts';

const BLOCKS = 300;

test('a long replay yields to the event loop and arrives whole and in order, followed by live blocks', async () => {
  const chain = createChain({ dir: null, seed: 'replay', genesisTime: 1_760_000_000_000, skipChance: 0 });
  const life = createLife(chain, { seed: 'replay', policies: 2 });
  for (let made = 0; made < BLOCKS; made += 1) await chain.produce(life.next());
  const first = chain.firstSlot + 1n;
  /** Turns of the event loop, and those after which a block was read. */
  let turns = 0;
  const between = new Set<number>();
  let over = false;
  const turn = () => {
    turns += 1;
    if (!over) setImmediate(turn);
  };
  turn();
  const ledger: Ledger = {
    ...chain,
    block: (slot) => {
      between.add(turns);
      return chain.block(slot);
    },
  };
  const geyser = await serveGeyser({ ledger, port: 0 });
  const client = rawClient(geyser.port);
  onTestFinished(async () => {
    over = true;
    client.close();
    await geyser.close();
    chain.close();
  });
  const call = client.subscribe({ blocksMeta: { all: {} }, commitment: CONFIRMED, fromSlot: String(first) });
  const metas = () => call.words().filter((word) => word.startsWith('meta'));
  await call.until(() => metas().length === BLOCKS);
  expect(between.size).toBeGreaterThanOrEqual(BLOCKS / 50);
  // A block that is made after the replay follows it on the same stream.
  await chain.produce(life.next());
  await call.until(() => metas().length === BLOCKS + 1);
  expect(metas()).toEqual(Array.from({ length: BLOCKS + 1 }, (_, at) => `meta ${first + BigInt(at)}`));
});
