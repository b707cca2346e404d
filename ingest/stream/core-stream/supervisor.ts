import { pause } from '../../../runtime/process/lifecycle.ts';
import { backoffMs } from '../../../runtime/retry.ts';
import { endWords, type StreamEndedError } from '../geyser/ended.ts';
import { takesLive } from '../geyser/live-probe.ts';
import {
  decideAfterEnd,
  type EarlierEnds,
  type Next,
  noEarlierEnds,
  type Probe,
  type ProbeAnswers,
  type StreamEnd,
  sameHole,
} from './after-end.ts';
import { type FarAheadOptions, farAheadAfterHole, whyAheadIsRefused } from './chain-ahead.ts';
import { holeIn, skip } from './hole.ts';
import { type OneStreamOptions, oneStream } from './one-stream.ts';

export interface SupervisorOptions extends OneStreamOptions {
  /** Nodes that are asked about a stream that goes on far ahead of the log. */
  rpc: FarAheadOptions['rpc'];
  /** The stream cannot bring the slots from this one on; the next output is a new beginning. */
  onOutOfReach(fromSlot: bigint): void;
  /**
   * Told the reason in words that may be served, whether anything but pings came, and whether this side ended the
   * stream.
   */
  onEnd(words: string, brought: boolean, isOurs: boolean): void;
}

/**
 * Keeps a stream going until the signal aborts: after each end it subscribes again at the last released slot, soon
 * where a slot of the last stream was released, else after a growing pause.
 */
export async function superviseStream(options: SupervisorOptions): Promise<void> {
  const { client, slots, signal } = options;
  let known = noEarlierEnds(slots.last);
  while (!signal.aborted) {
    slots.restart();
    const from = slots.last;
    known = reachedUpTo(from, known);
    const { error, brought, ahead } = await oneStream(options, from, known.reached);
    if (signal.aborted) return;
    const hole = holeIn(slots);
    const again = sameHole(hole, known);
    const beginning = ahead ?? (again === null ? null : farAheadAfterHole(again, known.reached));
    let far: StreamEnd['far'] = null;
    if (beginning !== null) {
      known = reachedUpTo(slots.last, known);
      const reached = known.reached.slot as bigint;
      const refused = await whyAheadIsRefused(beginning, { ...options, refused: known.refused, reached });
      if (signal.aborted) return;
      far = { slot: beginning.slot, refused };
    }
    options.onEnd(far?.refused ?? endWords(error), brought, error.cancelled);
    if (far === null && !brought) client.renew();
    const end = { error, brought, from, last: slots.last, hole, far };
    let told: ProbeAnswers = {};
    let next = decideAfterEnd(end, known);
    while (next.type === 'ask') {
      told = { ...told, [next.question]: await ASK[next.question](options, end) };
      next = decideAfterEnd(end, known, told);
    }
    carryOut(options, error, next);
    known = next.known;
    await pause(backoffMs(known.failures), signal);
  }
}

const reachedUpTo = (last: bigint | null, known: EarlierEnds): EarlierEnds =>
  last === null ? known : { ...known, reached: { ...known.reached, slot: last } };

const ASK: Record<Probe, (options: SupervisorOptions, end: StreamEnd) => Promise<boolean>> = {
  keepsReplay: async ({ client }, { from }) => {
    try {
      const first = await client.firstReplayed();
      return first !== null && first <= (from as bigint);
    } catch {
      // The server does not say what it keeps: nothing speaks against the replay.
      return true;
    }
  },
  takesLive: ({ client, subscription, signal }) => takesLive(client, subscription(null), signal),
};

function carryOut(options: SupervisorOptions, error: StreamEndedError, next: Next): void {
  const { slots, logger } = options;
  const { failures } = next.known;
  const { code, message: reason } = error;
  switch (next.type) {
    case 'taken':
      return;
    case 'refused':
      logger.warn(
        { reason: next.words, failures },
        'the stream is refused: nothing that it brings is stored',
      );
      return;
    case 'outOfReach':
      logger.warn(
        { slot: String(next.fromSlot - 1n), reason, code },
        'the stream does not go on from here: opening a gap',
      );
      options.onOutOfReach(next.fromSlot);
      slots.beginAnew();
      break;
    case 'skip':
      skip(options, next.hole);
      break;
    case 'again':
  }
  logger.warn({ reason, code, failures }, 'the stream ended');
}
