import { describe, expect, test } from 'vitest';
import { type Chain, createChain, SLOT_MS } from '../../devnet/chain/chain.ts';
import { createLife, type Life } from '../../devnet/life/life.ts';
import { livePast, type Past, pastEnd } from '../../devnet/pace.ts';

const PAST: Past = { hours: 24, blocks: 48, blockMs: 0 };
const HOUR_S = 3_600;
const SEED = 'past 1';
const GENESIS = Date.now() - PAST.hours * HOUR_S * 1000;
const never = new AbortController().signal;

const open = (genesisTime = GENESIS) => createChain({ dir: null, seed: SEED, genesisTime });
const lived = async (chain: Chain, signal = never, onProgress = (_: bigint) => {}) => {
  await livePast(chain, createLife(chain, { seed: SEED, policies: 3 }), PAST, signal, onProgress);
  return [...chain.history()].map(({ slot, blockTime }) => ({ slot, blockTime }));
};

describe('a past spread over hours', () => {
  test('has blocks in every hour, at the times of their slots, and ends before now', async () => {
    const blocks = await lived(open());
    expect(blocks.length).toBeGreaterThan(PAST.blocks * 0.9);
    expect(blocks.length).toBeLessThanOrEqual(PAST.blocks);
    for (const { slot, blockTime } of blocks)
      expect(blockTime).toBe(Math.floor((GENESIS + Number(slot) * SLOT_MS) / 1000));
    const hours = new Set(blocks.map(({ blockTime }) => Math.floor(blockTime / HOUR_S)));
    expect(hours.size).toBeGreaterThanOrEqual(PAST.hours);
    expect(blocks.at(-1)?.blockTime).toBeLessThan(Date.now() / 1000);
  });

  test('that was aborted keeps its blocks and resumes to its end, and another run adds nothing', async () => {
    const chain = open();
    const stop = new AbortController();
    chain.subscribe(({ slot }) => {
      if (slot > pastEnd(chain, PAST, Date.now()) / 2n) stop.abort();
    });
    const half = await lived(chain, stop.signal);
    expect(half.length).toBeLessThan(PAST.blocks * 0.6);
    const whole = await lived(chain);
    expect(whole.slice(0, half.length)).toEqual(half);
    expect(whole.at(-1)?.slot).toBeGreaterThan((pastEnd(chain, PAST, Date.now()) * 9n) / 10n);
    expect(await lived(chain)).toEqual(whole);
  });

  test('of a chain younger than those hours ends no later than now', async () => {
    const blocks = await lived(open(Date.now() - HOUR_S * 1000));
    expect(blocks.at(-1)?.blockTime).toBeLessThanOrEqual(Date.now() / 1000);
  });

  test('has no transaction that attests an equity first and fails with StaleRemoteEquity', async () => {
    const past: Past = { hours: 48, blocks: 600, blockMs: 0 };
    const seed = 'past 2';
    const genesisTime = Date.now() - past.hours * HOUR_S * 1000;
    const chain = createChain({ dir: null, seed, genesisTime });
    const life = createLife(chain, { seed, policies: 10 });
    /** How transactions that begin with a report of their own ended. */
    const ends: (string | null)[] = [];
    let batches: boolean[] = [];
    const heard: Life = {
      next: () => {
        const actions = life.next();
        batches = actions.map(
          (action) => action.kind === 'batch' && action.actions[0]?.kind === 'report_remote_equity',
        );
        return actions;
      },
    };
    chain.subscribe(({ transactions }) => {
      for (const [at, isBatch] of batches.entries()) if (isBatch) ends.push(transactions[at]?.failed ?? null);
    });
    await livePast(chain, heard, past, never, () => {});
    expect(ends).toContain(null);
    expect(ends).not.toContain('StaleRemoteEquity');
  });
});
