import type { Logger } from '../../../runtime/process/log.ts';
import type { Gap } from '../../history/gap.ts';
import type { Slots, SlotsOutput } from '../slots/machine.ts';

/** Complete slots that wait for a parent before the stream is taken to have a hole. */
const HOLE_AFTER_SLOTS = 40;
/** The same where a replay was asked for and its first slot did not come. */
export const NO_REPLAY_AFTER_SLOTS = 4;

export interface HoleOptions {
  slots: Slots;
  logger: Logger;
  /** The stream lacks these slots; `outputs` is what waited for them. */
  onHole(gap: Gap, outputs: readonly SlotsOutput[]): void;
}

export function holeIn(slots: Slots, after = HOLE_AFTER_SLOTS): Gap | null {
  const missing = slots.missing();
  return missing !== null && missing.waiting > after ? missing : null;
}

export function skip({ slots, logger, onHole }: HoleOptions, hole: Gap): void {
  logger.warn({ fromSlot: hole.fromSlot.toString() }, 'the stream lacks slots: opening a gap');
  onHole(hole, slots.skipTo(hole.toSlot));
}
