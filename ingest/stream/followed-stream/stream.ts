import { pause } from '../../../runtime/process/lifecycle.ts';
import { backoffMs } from '../../../runtime/retry.ts';
import { createNewcomers } from '../following/newcomers.ts';
import type { GeyserStream } from '../geyser/client.ts';
import { endWords, refusesFilter, type StreamEndedError } from '../geyser/ended.ts';
import type { Update } from '../geyser/update.ts';
import { createFollowedCover } from './cover.ts';
import { createFollowedStatus } from './followed-status.ts';
import { createOutage } from './outage.ts';
import type { FollowedStream, FollowedStreamOptions } from './port.ts';
import { createReleaseCeiling } from './release-ceiling.ts';
import { createFollowedRequests } from './requests.ts';
import { createFollowedSlots } from './slots.ts';
import { createStreamConflict } from './stream-conflict.ts';
import { openWatchedStream } from './watched-stream.ts';

/** A provider that takes no followed address at all is asked again after this long. */
const ASK_AGAIN_MS = 600_000;
/** A provider that ends the core's stream because of this one is not asked again for so long. */
const ALONE_MS = 3_600_000;
const ONE_STREAM_ALONE = 'the provider ends one stream where another begins';
/** Streams in a row that brought nothing, until the status says that there is none. */
const DOWN_AFTER = 2;
/** Ends in a row at the same slot, until the next stream begins behind it, without a replay. */
const MOST_STUCK_ENDS = 4;
/** Slots that are replayed of those before the first address came up. */
const REPLAYED_SLOTS = 150n;

/**
 * A stream of followed addresses beside the core: as many as the provider takes. Where it stands still it never holds
 * the core up for long, and nothing that becomes of it ends the core.
 */
export function createFollowedStream(options: FollowedStreamOptions): FollowedStream {
  const { commitment, addresses, signal, logger, position, core } = options;
  const isDated = (slot: bigint) => options.coreTimeOf(slot) !== null;
  const slots = createFollowedSlots(commitment, position?.followed ?? null, position?.slot ?? null, isDated);
  let live: GeyserStream | null = null;
  /** Whether addresses came up that the status was not told of. */
  let fresh = false;
  let hasCore = false;
  let wake = () => {};
  signal.addEventListener('abort', () => wake(), { once: true });
  const woken = () =>
    new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      wake = resolve;
    });

  const status = createFollowedStatus(options.onFollowed);
  const conflict = createStreamConflict();
  const outage = createOutage(options.awayAfterMs);
  const requests = createFollowedRequests({ commitment, addresses, onRequest: status.asked });
  const newcomers = createNewcomers({
    rewrite: () => {
      const next = requests.request(null);
      live?.resubscribe(next);
      return next.name;
    },
    read: options.read,
  });
  const ceiling = createReleaseCeiling({
    core,
    reached: slots.reached,
    onCeiling: options.onCeiling,
    onBehind: status.behind,
  });
  const timeOf = (slot: bigint) => options.coreTimeOf(slot) ?? slots.timeOf(slot);
  const reached = () => (ceiling.isActive() ? slots.reached() : (outage.unread()?.after ?? null));
  const cover = createFollowedCover({ position, core, reached, timeOf });

  const leave = () => {
    if (outage.isAway()) return;
    outage.begin(slots.reached(), core.last);
    ceiling.set(false);
    status.away(true);
    const unread = outage.unread();
    options.onAway(unread?.to ?? 0n, () => {
      // The stream may have come back since, and be away anew.
      if (unread === null || outage.unread() !== unread) return;
      cover.missed(unread.after, unread.to);
      outage.allRead();
      options.onReached();
    });
  };
  const comeBack = () => {
    status.down(null);
    if (!outage.heard()) return;
    status.away(false);
    ceiling.set(true);
  };

  const oneStream = (fromSlot: bigint | null): Promise<StreamEndedError> =>
    new Promise((resolve) => {
      let begun = false;
      const missed = (after: bigint, to: bigint) => {
        if (to > after) logger.warn({ toSlot: to.toString() }, 'followed addresses may lack slots');
        cover.missed(after, to);
        options.reread(atWork, to);
      };
      const onMeta = (update: Extract<Update, { type: 'blockMeta' }>) => {
        const { slot, parent, filter = '' } = update;
        // No parent is a later slot: such a meta does not show where the stream begins.
        const isBegin = !begun && (parent < slot || parent === 0n);
        // Without a replay that reaches back something may have been missed.
        if (isBegin && (fromSlot === null || parent > fromSlot)) {
          missed(slots.reached() ?? slot, slot);
          if (slots.reached() !== null) slots.skipTo(parent);
        }
        begun ||= isBegin;
        const name = requests.atWork(filter);
        if (name === null) return;
        atWork = requests.streamed();
        comeBack();
        newcomers.onFilter(name, slot);
        options.onAtWork(slot, requests.streamed);
      };
      const first = requests.request(fromSlot);
      let atWork = requests.streamed();
      newcomers.onNewStream(first.name);
      conflict.began('beside');
      slots.begun();
      live = openWatchedStream({
        ...options,
        subscription: first,
        onUpdate: (update, stream) => {
          const before = slots.reached();
          if (update.type === 'blockMeta') onMeta(update);
          if (update.type === 'account' && options.isOfCore(update)) return;
          if (update.type === 'unreadable')
            options.onUnreadable(requests.streamed(), update.slot, slots.reached());
          for (const late of slots.take(update)) options.onLate(late);
          for (const { after, to } of slots.holes()) missed(after, to);
          if (slots.reached() !== before) {
            ceiling.onReached();
            options.onReached();
          }
          if (slots.overflowing()) stream.cancel('too much waits for the core');
        },
        reached: slots.reached,
        onEnd: (ended) => {
          live = null;
          resolve(ended);
        },
      });
    });

  /** Passes over slots in which nothing was followed, up to `less` slots before the core: they are not asked for. */
  const skipToCore = (less: bigint) => {
    if (core.last !== null && slots.reached() !== null) slots.skipTo(core.last - less);
  };
  /** Waits until there is something to ask for, and the core has its stream. */
  const ready = async () => {
    while (addresses().length === 0 && !signal.aborted) {
      ceiling.set(false);
      await woken();
      // The new addresses may have been read at a slot a little before the core's.
      skipToCore(REPLAYED_SLOTS);
    }
    if (!outage.isAway()) ceiling.set(true);
    if (!hasCore) {
      while (!hasCore && !signal.aborted) await woken();
      outage.restartTimer();
    }
    if (outage.isAway() && outage.unread() === null) skipToCore(0n);
  };

  const run = async () => {
    let failures = 0;
    let stuck = 0;
    for (;;) {
      await ready();
      if (signal.aborted) return;
      const before = requests.ask();
      const begunAt = slots.reached();
      const ended = await oneStream(before.replay && !outage.isAway() ? slots.reached() : null);
      if (signal.aborted) return;
      const isForCore = conflict.ended('beside', ended.cancelled);
      if (conflict.isKnown()) {
        logger.warn({ reason: ended.message, code: ended.code }, ONE_STREAM_ALONE);
        status.down(ONE_STREAM_ALONE);
        leave();
        failures = 0;
        await pause(options.aloneMs ?? ALONE_MS, signal);
        conflict.tryAgain();
        continue;
      }
      if (!hasCore) continue;
      const worked = requests.hasWorked();
      // The end of a stream that is away is no refusal, unless it says so.
      if (!worked && !isForCore && (!outage.isAway() || refusesFilter(ended))) requests.ended(ended);
      if (!worked && !refusesFilter(ended)) options.client.renew();
      const { cap } = requests.ask();
      const isRefused = cap === 0 && refusesFilter(ended);
      if (cap !== before.cap && (cap !== 0 || isRefused))
        status.refused(`the provider takes ${cap} (${endWords(ended)})`);
      stuck = worked && !ended.cancelled && slots.reached() === begunAt ? stuck + 1 : 0;
      if (stuck === MOST_STUCK_ENDS) requests.withoutReplay();
      failures = (worked && stuck === 0) || cap !== before.cap ? 0 : failures + 1;
      const isLeaving = cap === 0 || (!worked && outage.isDue());
      if (isRefused) status.down(null);
      else if (failures >= DOWN_AFTER || isLeaving) status.down(endWords(ended));
      if (isLeaving) leave();
      if (cap === 0) requests.reset();
      if (slots.overflowing()) {
        // What waited for the core is dropped, and the addresses are read over RPC.
        slots.forget();
        requests.withoutReplay();
      }
      const { message: reason, code } = ended;
      logger.warn({ reason, code, failures, cap }, 'the stream of followed addresses ended');
      const isLess = cap !== before.cap && cap !== 0;
      await pause(isRefused ? ASK_AGAIN_MS : isLess ? 0 : backoffMs(failures), signal);
    }
  };

  return {
    add: (addresses) => {
      if (addresses.length === 0) return;
      newcomers.add(addresses);
      status.added(addresses.length);
      fresh = true;
      wake();
    },
    upTo: (slot) => {
      if (live !== null) newcomers.onSlot();
      if (fresh && outage.isAway()) status.asked(addresses(), requests.streamed().length);
      fresh = false;
      return slots.upTo(slot);
    },
    beginAt: (slot) => {
      if (slots.reached() === null) slots.skipTo(slot);
    },
    onCore: () => {
      if (!hasCore) wake();
      hasCore = true;
      ceiling.onCore();
    },
    onCoreBegin: () => conflict.began('core'),
    onCoreEnd: (brought, isOurs) => {
      conflict.ended('core', isOurs);
      if (!brought) hasCore = false;
      if (!brought || conflict.isKnown()) live?.cancel('the core comes first');
    },
    cover,
    timeOf: slots.timeOf,
    run,
  };
}
