import { seededKey } from '../program/state/keys.ts';
import { type Choice, fees } from './money.ts';
import type { Subject, World } from './world.ts';

const TRADERS = 12;

/** What happens to the token's pool: trades on the curve, graduation, and now and then the closing of its account. */
export function market(world: World, subject: Subject): Choice {
  const { policy } = subject;
  const { random } = world;
  const address = world.chain.addresses.pool(policy.mint, policy.quoteMint);
  const pool = world.state.pools.get(address);
  if (pool === undefined || pool.status === 2) {
    if (pool !== undefined && random.chance(0.02)) return [{ kind: 'close_pool', pool: address }];
    return fees(world, subject);
  }
  if (pool.status === 1) return [{ kind: 'migrate_pool', pool: address }];
  const by = seededKey(`trader:${random.int(1, TRADERS)}`);
  const sells = random.chance(0.35) && pool.realBase > 1_000n;
  const amount = sells ? random.big(1n, pool.realBase / 3n) : random.big(1n, pool.totalQuoteFundRaising / 6n);
  return [{ kind: 'trade_pool', pool: address, by, side: sells ? 'sell' : 'buy', amount }];
}
