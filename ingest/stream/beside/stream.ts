import { pause } from '../../../runtime/process/lifecycle.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import { backoffMs } from '../../../runtime/retry.ts';
import type { LogPosition } from '../../log/port.ts';
import { createNewcomers } from '../following/newcomers.ts';
import type { GeyserClient, GeyserStream } from '../geyser/client.ts';
import { endWords, type StreamEndedError } from '../geyser/ended.ts';
import type { AccountUpdate, Update } from '../geyser/update.ts';
import type { Slots } from '../slots/machine.ts';
import { watch } from '../watchdog.ts';
import { ASK_ALL, type Ask, askAfter, type Tried } from './cap.ts';
import { createFollowedCover, type FollowedCover } from './cover.ts';
import { createHold } from './hold.ts';
import { createBesideSlots } from './slots.ts';
import { createStanding, type Followed } from './standing.ts';

export interface BesideOptions {
  client: GeyserClient;
  commitment: 'confirmed' | 'finalized';
  /** Where the log ends. */
  position: LogPosition | null;
  core: Pick<Slots, 'last' | 'held'>;
  /** Every followed address, what matters most first. */
  addresses(): string[];
  /** Told by the core's owner filter already. */
  isOfCore(update: AccountUpdate): boolean;
  /** Has them read at that slot or later. */
  read(addresses: readonly string[], notBefore: bigint): void;
  /** Unix seconds of a slot, as the core knows them. */
  coreTimeOf(slot: bigint): number | null;
  /** A state of a slot that was handed out before. */
  onLate(update: AccountUpdate): void;
  /** The core is to release nothing above this slot; null: whatever it has. */
  onCeiling(ceiling: bigint | null): void;
  /** It has come further, and handed out all that the core has released meanwhile. */
  onReached(): void;
  /** `overRpc`: addresses that no stream carries. */
  onFollowed(followed: Followed, overRpc: readonly string[]): void;
  silenceMs?: number;
  logger: Logger;
  signal: AbortSignal;
}

export interface Beside {
  /** Addresses that came up. */
  add(addresses: readonly string[]): void;
  /** The core releases this slot: hands out what is here of it and of those before. */
  upTo(slot: bigint): AccountUpdate[];
  /** Everything is known up to this slot where nothing was followed before. */
  beginAt(slot: bigint): void;
  /** The core has taken something. */
  onCore(): void;
  cover: FollowedCover;
  /** Unix seconds of a slot that this stream has told of. */
  timeOf(slot: bigint): number | null;
  /** Runs until the signal is given. */
  run(): Promise<void>;
}

/** A provider that takes no followed address at all is asked again after this long. */
const ASK_AGAIN_MS = 600_000;
/** A rewrite is at work after so many slots, whether its filter's name comes back or not. */
const UNNAMED_METAS = 32;
/** Streams that brought nothing, one after the other, until it is told that none is there. */
const DOWN_AFTER = 2;
/** Of what was before the first address came up. */
const REPLAYED_SLOTS = 150n;

/**
 * A stream of followed addresses beside the core: as many as the provider takes. Where it does not go on it never holds
 * the core up for long, and nothing that becomes of it ends the core.
 */
export function createBeside(options: BesideOptions): Beside {
  const { client, commitment, signal, logger } = options;
  const { slot: released = null, followed = null } = options.position ?? {};
  const isDated = (slot: bigint) => options.coreTimeOf(slot) !== null;
  const slots = createBesideSlots(commitment, followed, released, isDated);
  let ask: Ask = ASK_ALL;
  let live: GeyserStream | null = null;
  let tried: Tried | null = null;
  let requests = 0;
  /** Block metas since the last request. */
  let metas = 0;
  let streamed: string[] = [];
  let wake: (() => void) | null = null;

  const standing = createStanding(options.onFollowed);
  const request = (fromSlot: bigint | null) => {
    requests += 1;
    metas = 0;
    const all = options.addresses();
    streamed = all.slice(0, ask.cap ?? all.length);
    tried = { addresses: streamed.length, replay: fromSlot !== null };
    standing.asked(all, streamed.length);
    return { programId: null, addresses: streamed, commitment, fromSlot, name: `followed-${requests}` };
  };
  const newcomers = createNewcomers({
    rewrite: () => {
      const next = request(null);
      live?.resubscribe(next);
      return next.name;
    },
    read: options.read,
  });
  const hold = createHold({
    core: options.core,
    reached: slots.reached,
    onCeiling: options.onCeiling,
    onBehind: standing.behind,
  });
  const timeOf = (slot: bigint) => options.coreTimeOf(slot) ?? slots.timeOf(slot);
  const { position, core } = options;
  const reached = () => (hold.isActive() ? slots.reached() : null);
  const cover = createFollowedCover({ position, core, reached, timeOf });

  const oneStream = (fromSlot: bigint | null): Promise<StreamEndedError> =>
    new Promise((resolve) => {
      let begun = false;
      let highest = -1n;
      const onMeta = (update: Extract<Update, { type: 'blockMeta' }>) => {
        const { slot, parent, filter = '' } = update;
        if (slot > highest) highest = slot;
        // Without a replay that reaches back something may have been missed.
        if (!begun && (fromSlot === null || parent > fromSlot)) {
          cover.missed(slots.reached() ?? slot, slot);
          options.read(streamed, slot);
        }
        begun = true;
        metas += 1;
        const name = `followed-${requests}`;
        // Where no filter is ever named, it is the last one's after a while.
        if (filter !== name && !(filter === '' && metas > UNNAMED_METAS)) return;
        tried = null;
        standing.down(null);
        ask = { ...ask, replay: true, silent: 0 };
        newcomers.onFilter(name, slot);
      };
      const first = request(fromSlot);
      newcomers.onNewStream(first.name);
      const stream = client.subscribe(first, {
        onUpdate: (update) => {
          if (update.type === 'blockMeta') onMeta(update);
          if (update.type === 'account' && options.isOfCore(update)) return;
          if (update.type === 'unreadable') options.read(streamed, update.slot);
          const before = slots.reached();
          for (const late of slots.take(update)) options.onLate(late);
          const reached = slots.reached();
          dog.heard(highest, reached);
          if (reached !== before) {
            hold.onReached();
            options.onReached();
          }
          if (slots.overflowing()) stream.cancel('too much waits for the core');
        },
        onEnd: (ended) => {
          dog.stop();
          signal.removeEventListener('abort', stop);
          live = null;
          resolve(ended);
        },
      });
      const stop = () => stream.cancel('stopping');
      signal.addEventListener('abort', stop, { once: true });
      const { silenceMs } = options;
      const dog = watch({
        ...(silenceMs === undefined ? {} : { silenceMs }),
        onStall: (reason) => stream.cancel(reason),
        paused: () => false,
      });
      live = stream;
    });

  /** Until there is something to ask for. */
  const idle = async () => {
    hold.set(false);
    if (ask.cap === 0) {
      request(null);
      await Promise.race([pause(ASK_AGAIN_MS, signal), added()]);
      skipToCore(0n);
      return;
    }
    await added();
    // They may have been read a little before where the core is by now.
    skipToCore(REPLAYED_SLOTS);
  };
  /** What was not followed meanwhile is not asked for. */
  const skipToCore = (less: bigint) => {
    const { last } = options.core;
    if (last !== null && slots.reached() !== null) slots.skipTo(last - less);
  };
  const added = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  signal.addEventListener('abort', () => wake?.(), { once: true });

  const run = async () => {
    let failures = 0;
    let refusedAt = 0;
    while (!signal.aborted) {
      if (ask.cap === 0 && performance.now() - refusedAt > ASK_AGAIN_MS) ask = ASK_ALL;
      if (options.addresses().length === 0 || ask.cap === 0) {
        await idle();
        continue;
      }
      hold.set(true);
      const ended = await oneStream(ask.replay ? slots.reached() : null);
      if (signal.aborted) return;
      const before = ask;
      if (tried !== null) ask = askAfter(ask, tried, ended);
      if (ask.cap !== before.cap) standing.refused(`the provider takes ${ask.cap} (${endWords(ended)})`);
      if (ask.cap === 0) {
        refusedAt = performance.now();
        standing.down(null);
      }
      failures = tried === null || ask.cap !== before.cap ? 0 : failures + 1;
      if (failures >= DOWN_AFTER) standing.down(endWords(ended));
      if (slots.overflowing()) {
        // Lost here: it is read over RPC.
        slots.forget();
        ask = { ...ask, replay: false };
      }
      const { message: reason, code } = ended;
      logger.warn({ reason, code, failures, cap: ask.cap }, 'the stream of followed addresses ended');
      await pause(ask.cap === before.cap ? backoffMs(failures) : 0, signal);
    }
  };

  return {
    add: (addresses) => {
      if (addresses.length === 0) return;
      newcomers.add(addresses);
      standing.added(addresses.length);
      wake?.();
    },
    upTo: (slot) => {
      if (live !== null) newcomers.onSlot();
      return slots.upTo(slot);
    },
    beginAt: (slot) => {
      if (slots.reached() === null) slots.skipTo(slot);
    },
    onCore: hold.onCore,
    cover,
    timeOf: slots.timeOf,
    run,
  };
}
