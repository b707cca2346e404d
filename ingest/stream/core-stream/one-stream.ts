import type { SlotTime } from '../../../runtime/rpc/same-chain.ts';
import type { GeyserClient, Subscription } from '../geyser/client.ts';
import type { StreamEndedError } from '../geyser/ended.ts';
import { isParentless, PARENTLESS, type Update } from '../geyser/update.ts';
import type { Outbox } from '../outbox.ts';
import type { SlotsOutput } from '../slots/machine.ts';
import { watch } from '../watchdog.ts';
import { TOO_MUCH_PENDING } from './after-end.ts';
import { farAheadAfterHole, farAheadOfLog, type Reached } from './chain-ahead.ts';
import { type HoleOptions, holeIn, NO_REPLAY_AFTER_SLOTS, skip } from './hole.ts';

/** A provider that begins so far before the end of the log is of another chain, or of one that began anew. */
const MOST_BEHIND_SLOTS = 1_000n;
const FAR_AHEAD =
  'the provider is far ahead of the log: SOLANA_RPC_URL is asked whether that is the same chain';
/** Block metas in a row without a parent, until the stream counts as one that never tells it. */
const MOST_PARENTLESS = 32;

export interface OneStreamOptions extends HoleOptions {
  client: GeyserClient;
  outbox: Pick<Outbox, 'full' | 'roomy'>;
  signal: AbortSignal;
  silenceMs?: number;
  subscription(fromSlot: bigint | null): Subscription;
  onUpdate(update: Update, outputs: readonly SlotsOutput[]): void;
  /** Called right before the stream is subscribed to. */
  onBegin(): void;
}

interface Ended {
  error: StreamEndedError;
  /** Whether anything but a ping came. */
  brought: boolean;
  /** The slot at which it would go on, where that is far ahead of the log; else null. */
  ahead: SlotTime | null;
}

type Begun = Extract<SlotsOutput, { type: 'begun' }>;
const isBegun = (output: SlotsOutput): output is Begun => output.type === 'begun';

/**
 * Runs one stream and resolves once it has ended. It is ended from this side where nothing good is to come of it, and
 * when the signal aborts.
 */
export function oneStream(
  options: OneStreamOptions,
  fromSlot: bigint | null,
  reached: Reached,
): Promise<Ended> {
  const { slots, outbox, signal } = options;
  return new Promise((resolve) => {
    let held = false;
    let brought = false;
    let ahead: SlotTime | null = null;
    let parentless = 0;
    let replayed = fromSlot === null;
    options.onBegin();
    const stream = options.client.subscribe(options.subscription(fromSlot), {
      onUpdate: (update) => {
        if (update.type !== 'ping' && update.type !== 'other') brought = true;
        if (fromSlot !== null && update.type === 'blockMeta' && update.slot <= fromSlot) replayed = true;
        const outputs = slots.take(update);
        const begun = outputs.find(isBegun);
        if (begun !== undefined && begun.slot + MOST_BEHIND_SLOTS < (reached.slot ?? 0n)) {
          slots.beginAnew(outputs);
          stream.cancel(
            `the provider is at slot ${begun.slot}, the log at ${reached.slot}: it lags, or follows another chain, or one that began anew, which wants a store and a log of its own`,
          );
          return;
        }
        if (begun !== undefined) ahead = farAheadOfLog(begun.slot, begun.blockTime, reached);
        if (ahead !== null) {
          if (begun !== undefined) slots.beginAnew(outputs);
          stream.cancel(FAR_AHEAD);
          return;
        }
        dog.heard(slots.highest, slots.last);
        options.onUpdate(update, outputs);
        if (update.type === 'blockMeta') parentless = isParentless(update) ? parentless + 1 : 0;
        if (parentless === MOST_PARENTLESS) stream.cancel(PARENTLESS);
        else if (slots.overflowing) stream.cancel(TOO_MUCH_PENDING);
        else if (update.type === 'blockMeta' && holeIn(slots) !== null) stream.cancel('slots are missing');
        else if (!replayed) {
          // A replay that brought nothing will bring nothing the next time either: the stream goes on behind the hole.
          const hole = holeIn(slots, NO_REPLAY_AFTER_SLOTS);
          ahead = hole === null ? null : farAheadAfterHole(hole, reached);
          if (ahead !== null) stream.cancel(FAR_AHEAD);
          else if (hole !== null) skip(options, hole);
        }
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
        resolve({ error, brought, ahead });
      },
    });
    const stop = () => stream.cancel('stopping');
    signal.addEventListener('abort', stop, { once: true });
    const dog = watch({
      ...(options.silenceMs === undefined ? {} : { silenceMs: options.silenceMs }),
      onStall: (reason) => {
        options.client.renew();
        stream.cancel(reason);
      },
      paused: () => held,
    });
  });
}
