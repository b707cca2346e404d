import { expect } from 'vitest';
import { compare } from '../../scenarios/compare.ts';
import { compareSums } from '../../scenarios/compare-sums.ts';
import type { Status } from '../../scenarios/harness.ts';
import { viewOf } from '../../scenarios/oracle/view.ts';
import { untilExact } from '../../scenarios/until-exact.ts';
import type { Stage } from '../system/stage.ts';
import { ask, eventually, getterOf } from './ask.ts';

/**
 * Slots while the index settles: an empty slot is served a quarter of a second late. The pauses between slots grow: a
 * machine that takes longer for a slot than the pause would never be seen at the tip.
 */
const SETTLING = { everyMs: 2_000, slots: 1 };
const SLOWER = 1.5;
/** Longest such pause: shorter than the silence after which a stream is taken to be dead. */
const AT_LATEST_MS = 15_000;
/** Slots while a gap is open: history waits for slots to pass, so make many. Not where an API does not answer. */
const CLOSING = { everyMs: 100, slots: 8 };
/** Shorter than the silence after which a stream is taken to be dead. */
const STATUS_WITHIN_MS = 5_000;

/** Waits until every API is at the tip with nothing of the past missing; empty slots are made meanwhile. */
export async function settle(stage: Stage): Promise<void> {
  const { chain } = stage.world;
  let produced = performance.now();
  let seen = '';
  let times = 1;
  const settled = async () => {
    const states = await Promise.all(stage.apis.map((api) => ask(api, '/status', STATUS_WITHIN_MS)));
    seen = JSON.stringify(states.map((state) => (state?.body as Status | undefined)?.indexer ?? state?.body));
    if (states.every((state) => isAtTip(state?.body))) return true;
    const closes = states.some((state) => state?.status === 200 && !isWhole(state.body));
    const { everyMs, slots } = closes ? CLOSING : SETTLING;
    const after = closes ? everyMs : Math.min(times * everyMs, AT_LATEST_MS);
    if (performance.now() - produced > after) {
      if (!closes) times *= SLOWER;
      for (let made = 0; made < slots; made += 1) await chain.produce([]);
      produced = performance.now();
      await stopClocks(stage);
    }
    return false;
  };
  const indexerOf = (body: unknown) => ((body ?? {}) as Partial<Status>).indexer;
  const isWhole = (body: unknown) => indexerOf(body)?.history.complete === true;
  const isAtTip = (body: unknown) =>
    isWhole(body) && indexerOf(body)?.lastProcessedSlot === String(chain.tip().slot);
  await stopClocks(stage);
  try {
    await eventually('the index is at the tip and whole', settled);
  } catch (error) {
    throw new Error(`${(error as Error).message}; the tip is ${chain.tip().slot}, served is ${seen}`);
  }
}

/** Stops the APIs' clocks at the chain's last block, as ages are compared to the second. */
async function stopClocks({ apis, world: { chain } }: Stage): Promise<void> {
  const atMillis = chain.timeOf(chain.tip().slot) * 1000;
  await Promise.all(apis.map((api) => api.stopClock(atMillis)));
}

/**
 * Waits until every route of every API equals the ledger.
 * @param limitMs how long a difference may last, from the first one on
 * @throws AssertionError with the first difference that stays
 */
export async function expectExact(stage: Stage, limitMs: number): Promise<void> {
  const { chain } = stage.world;
  await untilExact({
    settle: () => settle(stage),
    nextSlot: () => chain.produce([]),
    compare: async () => {
      const view = viewOf(chain, false);
      for (const api of stage.apis) await compare(getterOf(api), view);
    },
    compareSums: async () => {
      await eventually('no transaction is left that was read in part', () => isAllRead(stage));
      await sumsOf(stage);
    },
    limitMs,
  });
}

/** Whether no transaction is incomplete: the rest of one is read later over RPC, and no gap shows that. */
async function isAllRead({ apis }: Stage): Promise<boolean> {
  const states = await Promise.all(apis.map((api) => ask(api, '/status', STATUS_WITHIN_MS)));
  return states.every((state) => {
    const { indexer } = (state?.body ?? {}) as Partial<Status>;
    return indexer?.incompleteTransactions.value === 0;
  });
}

async function sumsOf({ apis, world: { chain } }: Stage): Promise<void> {
  const view = viewOf(chain, false);
  for (const api of apis) await compareSums(getterOf(api), view);
}

/**
 * Checks that figures made of events alone are wrong at each of so many looks, at the tip with nothing missing.
 * Accounts that are yet to be read do not matter to these figures.
 * @throws Error where a look finds no difference
 */
export async function expectWrongSums(stage: Stage, looks: number): Promise<void> {
  for (let look = 1; look <= looks; look += 1) {
    await stage.world.chain.produce([]);
    await settle(stage);
    await expect(sumsOf(stage), `look ${look}`).rejects.toMatchObject({ name: 'AssertionError' });
  }
}
