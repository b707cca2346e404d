import { pause } from '../../runtime/lifecycle.ts';
import type { Logger } from '../../runtime/log.ts';
import { backoffMs } from '../../runtime/retry.ts';
import type { Gap } from '../history/gap.ts';
import type { GeyserClient, GeyserStream, StreamEndedError, Subscription } from './geyser/client.ts';
import type { Update } from './geyser/update.ts';
import type { Outbox } from './outbox.ts';
import type { Slots, SlotsOutput } from './slots/machine.ts';
import { watch } from './watchdog.ts';

/** Complete slots that wait for a parent before the stream is taken to have a hole. */
const HOLE_AFTER_SLOTS = 40;

export interface SupervisorOptions {
  client: GeyserClient;
  slots: Slots;
  outbox: Pick<Outbox, 'full' | 'roomy'>;
  logger: Logger;
  signal: AbortSignal;
  silenceMs?: number;
  subscription(fromSlot: bigint | null): Subscription;
  onStream(stream: GeyserStream, subscription: Subscription): void;
  onUpdate(update: Update, outputs: readonly SlotsOutput[]): void;
  /** The stream cannot bring the slots from this one on; the next output is a new beginning. */
  onOutOfReach(fromSlot: bigint): void;
  /** The stream lacks these slots; `outputs` is what waited for them. */
  onHole(gap: Gap, outputs: readonly SlotsOutput[]): void;
  onEnd(reason: string): void;
}

/**
 * Keeps a stream going until the signal is given: after each end it subscribes again behind the last released slot,
 * at once where the last stream brought something, else after a growing pause.
 */
export async function superviseStream(options: SupervisorOptions): Promise<void> {
  const { slots, logger, signal } = options;
  let failures = 0;
  let holeBefore: bigint | null = null;
  while (!signal.aborted) {
    slots.restart();
    const before = slots.last;
    const ended = await oneStream(options, before === null ? null : before + 1n);
    if (signal.aborted) return;
    options.onEnd(ended.message);
    failures = slots.last === before ? failures + 1 : 0;
    const hole = holeIn(slots);
    if (ended.outOfRange && slots.last !== null) {
      logger.warn({ slot: slots.last.toString() }, 'the replay does not reach back: opening a gap');
      options.onOutOfReach(slots.last + 1n);
      slots.beginAnew();
    } else if (hole !== null && hole.fromSlot === holeBefore) {
      // The replay brought the same hole again: those slots are not to be had from the stream.
      logger.warn({ fromSlot: hole.fromSlot.toString() }, 'the stream lacks slots: opening a gap');
      options.onHole(hole, slots.skipTo(hole.toSlot));
      failures = 0;
    }
    holeBefore = hole?.fromSlot ?? null;
    logger.warn({ reason: ended.message, code: ended.code, failures }, 'the stream ended');
    await pause(backoffMs(failures), signal);
  }
}

function holeIn(slots: Slots): Gap | null {
  const missing = slots.missing();
  return missing !== null && missing.waiting > HOLE_AFTER_SLOTS ? missing : null;
}

function oneStream(options: SupervisorOptions, fromSlot: bigint | null): Promise<StreamEndedError> {
  const { slots, outbox, signal } = options;
  return new Promise((resolve) => {
    let held = false;
    const subscription = options.subscription(fromSlot);
    const stream = options.client.subscribe(subscription, {
      onUpdate: (update) => {
        const outputs = slots.take(update);
        dog.heard(slots.highest, slots.last);
        options.onUpdate(update, outputs);
        if (slots.overflowing) stream.cancel('too much waits for slots to be complete');
        else if (update.type === 'blockMeta' && holeIn(slots) !== null) stream.cancel('slots are missing');
        if (held || !outbox.full()) return;
        held = true;
        stream.pause();
        void outbox.roomy().then(() => {
          held = false;
          stream.resume();
        });
      },
      onEnd: (error) => {
        dog.stop();
        signal.removeEventListener('abort', stop);
        resolve(error);
      },
    });
    const stop = () => stream.cancel('stopping');
    signal.addEventListener('abort', stop, { once: true });
    const dog = watch({
      ...(options.silenceMs === undefined ? {} : { silenceMs: options.silenceMs }),
      onStall: (reason) => stream.cancel(reason),
      paused: () => held,
    });
    options.onStream(stream, subscription);
  });
}
