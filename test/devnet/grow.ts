import { createChain } from '../../devnet/chain/chain.ts';
import { createLife } from '../../devnet/life/life.ts';

/** A process to be killed: lives on in the ledger of a directory and says each slot once it is durable. */
const [dir, seed, policies] = process.argv.slice(2);
if (dir === undefined || seed === undefined) throw new Error('grow.ts <dir> <seed> <policies>');
const chain = createChain({ dir, seed, genesisTime: 1_760_000_000_000 });
const life = createLife(chain, { seed, policies: Number(policies) });
for (;;) {
  const block = await chain.produce(life.next());
  process.stdout.write(`${block.slot}\n`);
}
