import { afterEach, expect, test, vi } from 'vitest';
import { createChain, SLOT_MS } from '../../devnet/chain/chain.ts';
import { createLife } from '../../devnet/life/life.ts';
import { keepProducing } from '../../devnet/pace.ts';

const HOUR_MS = 3_600_000;
const NIGHT_MS = 8 * HOUR_MS;

afterEach(() => vi.restoreAllMocks());

/** Seconds that the last block is behind the clock if the machine is suspended or busy after the third. */
async function lagAfter({ suspended = 0, busy = 0, blocks = 8 }): Promise<number> {
  let [ran, wall] = [0, Date.now()];
  // Each look at the clock finds that a slot has passed, so that nothing waits.
  vi.spyOn(performance, 'now').mockImplementation(() => {
    wall += SLOT_MS;
    ran += SLOT_MS;
    return ran;
  });
  vi.spyOn(Date, 'now').mockImplementation(() => wall);
  const chain = createChain({ dir: null, seed: 'pace', genesisTime: wall - HOUR_MS, skipChance: 0 });
  const stop = new AbortController();
  let made = 0;
  chain.subscribe(() => {
    made += 1;
    if (made === 3) {
      wall += suspended + busy;
      ran += busy;
    }
    if (made === blocks) stop.abort();
  });
  await keepProducing(chain, createLife(chain, { seed: 'pace', policies: 2 }), SLOT_MS, stop.signal);
  const lag = wall / 1000 - chain.timeOf(chain.tip().slot);
  chain.close();
  return lag;
}

test('a chain whose machine was suspended for 8 hours skips to the slot of the clock', async () => {
  expect(await lagAfter({ suspended: NIGHT_MS })).toBeLessThan(60);
});

test('a chain whose machine was only busy for 8 hours stays behind the clock and skips nothing', async () => {
  expect(await lagAfter({ busy: NIGHT_MS })).toBeGreaterThan(NIGHT_MS / 1000 - 60);
});
