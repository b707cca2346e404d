import { pause } from '../../../runtime/process/lifecycle.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import { backoffMs } from '../../../runtime/retry.ts';
import { createNewcomers } from '../following/newcomers.ts';
import type { GeyserClient, GeyserStream } from '../geyser/client.ts';
import { endWords, type StreamEndedError } from '../geyser/ended.ts';
import type { AccountUpdate, Update } from '../geyser/update.ts';
import { watch } from '../watchdog.ts';
import { ASK_ALL, type Ask, askAfter, type Tried } from './cap.ts';
import { createBesideSlots } from './slots.ts';

/** How the followed addresses are covered; `reason`: why some are not streamed, in words that may be served. */
export interface Followed {
  addresses: number;
  overRpc: number;
  reason: string | null;
  /** Why none of the others is streamed either, in the same kind of words; null where they are. */
  down: string | null;
}

export interface BesideOptions {
  client: GeyserClient;
  commitment: 'confirmed' | 'finalized';
  /** Where the log ends. */
  position: bigint | null;
  /** Every followed address, what matters most first. */
  addresses(): string[];
  /** Told by the core's owner filter already. */
  isOfCore(update: AccountUpdate): boolean;
  /** Has them read at that slot or later. */
  read(addresses: readonly string[], notBefore: bigint): void;
  /** Whether the core knows the time of a slot. */
  isDated(slot: bigint): boolean;
  /** A state of a slot that was handed out before. */
  onLate(update: AccountUpdate): void;
  /** The core is to release nothing above this slot; null: whatever it has. */
  onCeiling(ceiling: bigint | null): void;
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
/** A slot that this stream has not told of for so long is released without it: a rewrite may have missed it. */
const LONGEST_HOLD_MS = 3_000;

/**
 * A stream of followed addresses beside the core: as many as the provider takes. It never holds the core up for long,
 * and nothing that becomes of it ends the core.
 */
export function createBeside(options: BesideOptions): Beside {
  const { client, commitment, signal, logger } = options;
  const slots = createBesideSlots(commitment, options.position, options.isDated);
  let ask: Ask = ASK_ALL;
  let refusal: string | null = null;
  let down: string | null = null;
  let live: GeyserStream | null = null;
  let tried: Tried | null = null;
  let requests = 0;
  /** Block metas since the last request. */
  let metas = 0;
  let streamed: string[] = [];
  let holding = true;
  let wake: (() => void) | null = null;

  const tell = (all: readonly string[]) => {
    const rest = all.slice(streamed.length);
    const reason = rest.length === 0 ? null : refusal;
    options.onFollowed({ addresses: all.length, overRpc: rest.length, reason, down }, rest);
  };
  const tellDown = (words: string | null) => {
    if (words === down) return;
    down = words;
    tell(options.addresses());
  };
  const request = (fromSlot: bigint | null) => {
    requests += 1;
    metas = 0;
    const all = options.addresses();
    streamed = all.slice(0, ask.cap ?? all.length);
    tried = { addresses: streamed.length, replay: fromSlot !== null };
    tell(all);
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
  let hold: NodeJS.Timeout | undefined;
  const tellCeiling = () => {
    clearTimeout(hold);
    if (holding) hold = setTimeout(letGo, LONGEST_HOLD_MS).unref();
    options.onCeiling(holding ? (slots.reached() ?? -1n) : null);
  };
  const letGo = () => {
    holding = false;
    if (!signal.aborted) tellCeiling();
  };

  const oneStream = (fromSlot: bigint | null): Promise<StreamEndedError> =>
    new Promise((resolve) => {
      let begun = false;
      let highest = -1n;
      const onMeta = (update: Extract<Update, { type: 'blockMeta' }>) => {
        const { slot, parent, filter = '' } = update;
        if (slot > highest) highest = slot;
        // Without a replay that reaches back something may have been missed.
        if (!begun && (fromSlot === null || parent > fromSlot)) options.read(streamed, slot);
        begun = true;
        metas += 1;
        const name = `followed-${requests}`;
        // Where no filter is ever named, it is the last one's after a while.
        if (filter !== name && !(filter === '' && metas > UNNAMED_METAS)) return;
        tried = null;
        tellDown(null);
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
            holding = true;
            tellCeiling();
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
    holding = false;
    tellCeiling();
    if (ask.cap === 0) {
      request(null);
      await Promise.race([pause(ASK_AGAIN_MS, signal), added()]);
      return;
    }
    await added();
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
      tellCeiling();
      const ended = await oneStream(ask.replay ? slots.reached() : null);
      if (signal.aborted) return;
      const before = ask;
      if (tried !== null) ask = askAfter(ask, tried, ended);
      if (ask.cap !== before.cap) refusal = `the provider takes ${ask.cap} (${endWords(ended)})`;
      if (ask.cap === 0) {
        refusedAt = performance.now();
        down = null;
      }
      failures = tried === null || ask.cap !== before.cap ? 0 : failures + 1;
      if (failures >= DOWN_AFTER) tellDown(endWords(ended));
      // What follows is soon here again, or the core goes on without it.
      holding = tried === null;
      tellCeiling();
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
      wake?.();
    },
    upTo: (slot) => {
      if (live !== null) newcomers.onSlot();
      return slots.upTo(slot);
    },
    timeOf: slots.timeOf,
    run,
  };
}
