import { afterEach, expect, test, vi } from 'vitest';
import { createChain, SLOT_MS } from '../../devnet/chain/chain.ts';
import { createLife } from '../../devnet/life/life.ts';
import { keepProducing } from '../../devnet/pace.ts';

const HOUR_MS = 3_600_000;
const NIGHT_MS = 8 * HOUR_MS;
/** How long a block takes to be made. */
const BLOCK_MS = 100;

/** Milliseconds of the two clocks, which only blocks and pauses move, so that nothing waits; and the pauses. */
const clock = vi.hoisted(() => ({ wall: 0, ran: 0, pauses: [] as number[] }));
vi.mock('node:timers/promises', () => ({
  setTimeout: async (ms: number) => {
    clock.wall += ms;
    clock.ran += ms;
    clock.pauses.push(ms);
  },
}));
afterEach(() => vi.restoreAllMocks());

/** Makes `blocks` blocks on a machine that is suspended or busy after the third. */
async function produce({ suspended = 0, busy = 0, blocks = 8 }) {
  Object.assign(clock, { wall: Date.now(), ran: 0, pauses: [] });
  vi.spyOn(performance, 'now').mockImplementation(() => clock.ran);
  vi.spyOn(Date, 'now').mockImplementation(() => clock.wall);
  const genesisTime = clock.wall - HOUR_MS;
  const chain = createChain({ dir: null, seed: 'pace', genesisTime, skipChance: 0 });
  const stop = new AbortController();
  const slots: bigint[] = [];
  chain.subscribe(({ slot }) => {
    slots.push(slot);
    const isThird = slots.length === 3;
    clock.wall += BLOCK_MS + (isThird ? suspended + busy : 0);
    clock.ran += BLOCK_MS + (isThird ? busy : 0);
    if (slots.length === blocks) stop.abort();
  });
  await keepProducing(chain, createLife(chain, { seed: 'pace', policies: 2 }), SLOT_MS, stop.signal);
  chain.close();
  const [first = 0n] = slots;
  return {
    /** Milliseconds that the last block is behind the clock. */
    lag: clock.wall - genesisTime - Number(chain.tip().slot) * SLOT_MS,
    hasEverySlot: slots.every((slot, at) => slot === first + BigInt(at)),
    pauses: clock.pauses,
  };
}

test('a chain whose machine was suspended for 8 hours skips to the slot of the clock', async () => {
  const { lag, hasEverySlot } = await produce({ suspended: NIGHT_MS });
  expect(lag).toBeLessThanOrEqual(2 * SLOT_MS);
  expect(hasEverySlot).toBe(false);
});

test('a chain whose machine was only busy for 8 hours stays behind the clock and skips nothing', async () => {
  const { lag, hasEverySlot } = await produce({ busy: NIGHT_MS });
  expect(lag).toBeGreaterThan(NIGHT_MS - 60_000);
  expect(hasEverySlot).toBe(true);
});

test('a chain whose machine was busy makes every missed block without a pause, then one a slot again', async () => {
  const busy = 120_000;
  // Each block made up takes a part of the slot that it makes up.
  const missed = Math.ceil(busy / (SLOT_MS - BLOCK_MS));
  const { lag, hasEverySlot, pauses } = await produce({ busy, blocks: missed + 20 });
  expect(hasEverySlot).toBe(true);
  expect(lag).toBeLessThanOrEqual(2 * SLOT_MS);
  expect(pauses.slice(2, missed)).toEqual(Array(missed - 2).fill(0));
  expect(pauses.slice(-10)).toEqual(Array(10).fill(SLOT_MS - BLOCK_MS));
});
