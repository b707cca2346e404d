import { setTimeout as pause } from 'node:timers/promises';
import { type Chain, SLOT_MS } from './chain/chain.ts';
import type { Life } from './life/life.ts';

/** Blocks made between two looks at the clock and the signal. */
const BATCH = 200;

/** Makes a past of `slots` as fast as it goes; `onProgress` hears of the slot reached. */
export async function makeHistory(
  chain: Chain,
  life: Life,
  slots: number,
  signal: AbortSignal,
  onProgress: (slot: bigint) => void,
): Promise<void> {
  const end = chain.firstSlot + BigInt(slots);
  while (chain.tip().slot < end && !signal.aborted) {
    for (let made = 0; made < BATCH && chain.tip().slot < end; made += 1) await chain.produce(life.next());
    onProgress(chain.tip().slot);
    await pause(0);
  }
}

/** Slot that the clock stands in, by the genesis time. */
function slotOfClock(chain: Chain, nowMs: number): bigint {
  return BigInt(Math.max(0, Math.floor((nowMs - chain.genesisMs) / SLOT_MS)));
}

/**
 * Makes a block every `slotMs` until aborted; a skipped slot is a slot without a block. At the chain's own pace a
 * chain that lags behind the clock, after a night switched off, skips to it.
 */
export async function keepProducing(
  chain: Chain,
  life: Life,
  slotMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (slotMs === SLOT_MS) chain.skipTo(slotOfClock(chain, Date.now()));
  let start: { slot: bigint; ms: number } | null = null;
  while (!signal.aborted) {
    const block = await chain.produce(life.next());
    start ??= { slot: block.slot, ms: performance.now() };
    const due = start.ms + Number(block.slot + 1n - start.slot) * slotMs;
    await pause(Math.max(0, due - performance.now()), undefined, { signal }).catch(() => undefined);
  }
}
