import { setTimeout as pause } from 'node:timers/promises';
import { type Chain, SLOT_MS } from './chain/chain.ts';
import type { Life } from './life/life.ts';

/** Blocks made between two looks at the clock and the signal. */
const BATCH = 200;
export const SLOTS_AN_HOUR = 3_600_000 / SLOT_MS;
const TELL_MS = 2_000;
/** A jump of the clock by no more than this is a correction and not a suspended machine: no slots are skipped. */
const ASLEEP_MS = 60_000;

/** Makes a past of `slots` as fast as possible; `onProgress` is called with the slot reached. */
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

/** A past whose blocks are spread over `hours`, and which open streams are sent as it is made. */
export interface Past {
  hours: number;
  blocks: number;
  /** Milliseconds between two of its blocks as they are made. */
  blockMs: number;
}

/** The slot at which such a past ends: `hours` after the first slot, the same at every start; at most the clock's. */
export function pastEnd(chain: Chain, { hours }: Past, nowMs: number): bigint {
  const end = chain.firstSlot + BigInt(hours * SLOTS_AN_HOUR);
  const clock = slotOfClock(chain, nowMs);
  return end < clock ? end : clock;
}

/**
 * Makes the rest of a past: its blocks are spread evenly over its hours, and the slots between them are skipped. An
 * open stream sees every state on the way, so an index that follows it knows that past exactly.
 */
export async function livePast(
  chain: Chain,
  life: Life,
  past: Past,
  signal: AbortSignal,
  onProgress: (slot: bigint) => void,
): Promise<void> {
  const end = pastEnd(chain, past, Date.now());
  const apart = (end - chain.firstSlot) / BigInt(past.blocks) + 1n;
  let told = performance.now();
  const { slot: tip } = chain.tip();
  for (let slot = tip === chain.firstSlot ? tip + 1n : tip + apart; slot < end && !signal.aborted; ) {
    chain.skipTo(slot);
    const block = await chain.produce(life.next());
    slot = block.slot + apart;
    if (performance.now() - told > TELL_MS || slot >= end) {
      told = performance.now();
      onProgress(block.slot);
    }
    await pause(past.blockMs, undefined, { signal }).catch(() => undefined);
  }
}

/** The slot of the clock's present time, counted from the genesis time. */
function slotOfClock(chain: Chain, nowMs: number): bigint {
  return BigInt(Math.max(0, Math.floor((nowMs - chain.genesisMs) / SLOT_MS)));
}

/**
 * Makes a block every `slotMs` until aborted; a skipped slot is a slot without a block. At the chain's own pace
 * (`slotMs` equal to SLOT_MS) a chain that was switched off or suspended skips to the slot of the clock. A chain that
 * only had too little time makes its blocks up.
 */
export async function keepProducing(
  chain: Chain,
  life: Life,
  slotMs: number,
  signal: AbortSignal,
): Promise<void> {
  const skipToClock = () => {
    if (slotMs === SLOT_MS) chain.skipTo(slotOfClock(chain, Date.now()));
  };
  skipToClock();
  let start: { slot: bigint; ms: number; asleep: number } | null = null;
  while (!signal.aborted) {
    if (start !== null && timeAsleep() - start.asleep > ASLEEP_MS) {
      skipToClock();
      start = null;
    }
    const block = await chain.produce(life.next());
    start ??= { slot: block.slot, ms: performance.now(), asleep: timeAsleep() };
    const due = start.ms + Number(block.slot + 1n - start.slot) * slotMs;
    await pause(Math.max(0, due - performance.now()), undefined, { signal }).catch(() => undefined);
  }
}

/** Grows by the time that the machine is suspended: `Date.now()` goes on then, `performance.now()` may not. */
const timeAsleep = () => Date.now() - performance.now();
