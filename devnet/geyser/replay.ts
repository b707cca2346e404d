import { status } from '@grpc/grpc-js';
import type { ReplayMode } from './modes.ts';

/** The slot where a stream goes on, `live` for the tip, or the status that it ends with. */
export type Replay = { from: bigint } | 'live' | { code: status; details: string };

export interface Reach {
  /** The newest slot at the commitment that was asked for. */
  tip: bigint;
  /** The oldest slot that can be replayed. */
  first: bigint;
}

type Answer = (fromSlot: bigint, reach: Reach) => Replay;

const ended = (code: status, details: string) => ({ code, details });

const kept: Answer = (fromSlot, { tip, first }) => {
  if (fromSlot > tip) return ended(status.INTERNAL, 'failed to get replay response');
  if (fromSlot < first) {
    return ended(
      status.OUT_OF_RANGE,
      `broadcast from ${fromSlot} is not available, last available: ${first}`,
    );
  }
  return { from: fromSlot };
};

const ANSWERS: Record<ReplayMode, Answer> = {
  kept,
  lenient: (fromSlot, reach) => (fromSlot > reach.tip ? 'live' : kept(fromSlot, reach)),
  off: () => ended(status.INTERNAL, 'from_slot is not supported'),
  failed: () => ended(status.INTERNAL, 'failed to get replay response'),
  'out-of-range': (fromSlot, { tip }) =>
    ended(status.OUT_OF_RANGE, `broadcast from ${fromSlot} is not available, last available: ${tip + 1n}`),
  invalid: (fromSlot) => ended(status.INVALID_ARGUMENT, `from_slot ${fromSlot} is too old`),
  'data-loss': (fromSlot) => ended(status.DATA_LOSS, `slot ${fromSlot} is gone`),
  silent: () => ended(status.OK, ''),
  unavailable: (fromSlot) => ended(status.UNAVAILABLE, `no server for slot ${fromSlot}`),
  empty: () => 'live',
};

/** How a provider of this mode answers a `from_slot`. */
export const replayFrom = (mode: ReplayMode, fromSlot: bigint, reach: Reach): Replay =>
  ANSWERS[mode](fromSlot, reach);

/** The slot that SubscribeReplayInfo answers; null where there is no replay. */
export function firstAvailable(mode: ReplayMode, { first }: Reach): bigint | null {
  return mode === 'kept' || mode === 'lenient' || mode === 'failed' ? first : null;
}
