import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { backoffMs } from '../../runtime/retry.ts';
import type { SlotTime } from '../../runtime/rpc/same-chain.ts';
import type { Gap } from '../history/gap.ts';
import { type FarAheadOptions, notTakenAhead } from './chain-ahead.ts';
import type { GeyserClient, Subscription } from './geyser/client.ts';
import { endWords, replayEnd, type StreamEndedError } from './geyser/ended.ts';
import { takesLive } from './geyser/live-probe.ts';
import { isParentless, PARENTLESS, type Update } from './geyser/update.ts';
import type { Outbox } from './outbox.ts';
import type { Slots, SlotsOutput } from './slots/machine.ts';
import { watch } from './watchdog.ts';

/** Complete slots that wait for a parent before the stream is taken to have a hole. */
const HOLE_AFTER_SLOTS = 40;
/** The same where a replay was asked for and its first slot did not come. */
const NO_REPLAY_AFTER_SLOTS = 4;
/** A provider that begins so far behind what is in the log is of another chain, or of one that began anew. */
const MOST_BEHIND_SLOTS = 1_000n;
/** One that goes on so far ahead may be, too: who was away has to be told from it. */
const MOST_AHEAD_SLOTS = 1_000n;
const FAR_AHEAD =
  'the provider is far ahead of the log: SOLANA_RPC_URL is asked whether that is the same chain';
/** A slot that is larger than may wait is one that the stream cannot bring, whoever ends it. */
const TOO_MUCH = 'too much waits for slots to be complete';
/** Ends of a replay without one update until the past is left to history. */
const MOST_EMPTY_ENDS = 3;
/** The same where something came each time, and no slot: there is one that the provider cannot send. */
const MOST_STUCK_ENDS = 4;
/** Block metas in a row that say on no slot that theirs stands, until the stream is taken to have no other. */
const MOST_PARENTLESS = 32;
/** Times that a request without a replay was taken, after ends that say nothing of it, until it is the replay. */
const MOST_LOOKS = 2;

export interface SupervisorOptions {
  client: GeyserClient;
  /** Asked about a stream that goes on far ahead of the log. */
  rpc: FarAheadOptions['rpc'];
  slots: Slots;
  outbox: Pick<Outbox, 'full' | 'roomy'>;
  logger: Logger;
  signal: AbortSignal;
  silenceMs?: number;
  subscription(fromSlot: bigint | null): Subscription;
  onUpdate(update: Update, outputs: readonly SlotsOutput[]): void;
  /** The stream cannot bring the slots from this one on; the next output is a new beginning. */
  onOutOfReach(fromSlot: bigint): void;
  /** The stream lacks these slots; `outputs` is what waited for them. */
  onHole(gap: Gap, outputs: readonly SlotsOutput[]): void;
  /** It is subscribed to. */
  onBegin(): void;
  /** With words that may be served, and whether anything but pings came. */
  onEnd(words: string, brought: boolean, isOurs: boolean): void;
}

interface Ended {
  error: StreamEndedError;
  /** Whether anything but a ping came. */
  brought: boolean;
  /** Where it would go on, where that is far ahead of the log. */
  ahead: SlotTime | null;
}

/** How far the log is, and where ahead of it the stream is known to be of the same chain. */
interface Reached {
  slot: bigint | null;
  sameAt: bigint | null;
  /** Why a stream far ahead of the log was refused last; null where none was, or one was taken since. */
  refused: string | null;
}

/**
 * Keeps a stream going until the signal is given: after each end it subscribes again at the last released slot, at
 * once where the last stream brought something, else after a growing pause.
 */
export async function superviseStream(options: SupervisorOptions): Promise<void> {
  const { client, slots, logger, signal } = options;
  let failures = 0;
  let emptyEnds = 0;
  let looks = 0;
  let holeBefore: bigint | null = null;
  /** The last released slot of all, also where the next is to be a new beginning. */
  const reached: Reached = { slot: slots.last, sameAt: null, refused: null };
  while (!signal.aborted) {
    slots.restart();
    const before = slots.last;
    reached.slot = before ?? reached.slot;
    const { error, brought, ahead } = await oneStream(options, before, reached);
    if (signal.aborted) return;
    const hole = holeIn(slots);
    // The replay brought the same hole again: those slots are not to be had from the stream.
    const isHole = hole !== null && hole.fromSlot === holeBefore;
    const far = ahead ?? (isHole ? farBehind(hole, reached) : null);
    if (far !== null) {
      reached.slot = slots.last ?? reached.slot;
      const { refused } = reached;
      const words = await notTakenAhead(far, { ...options, refused, reached: reached.slot as bigint });
      if (signal.aborted) return;
      reached.refused = words;
      reached.sameAt = words === null ? far.slot : null;
      failures = words === null ? 0 : failures + 1;
      options.onEnd(words ?? endWords(error), brought, error.cancelled);
      if (words !== null) logger.warn({ reason: words, failures }, 'nothing is taken of the stream');
      await pause(backoffMs(failures), signal);
      continue;
    }
    options.onEnd(endWords(error), brought, error.cancelled);
    const { code, message: reason } = error;
    if (!brought) client.renew();
    if (slots.last !== before) reached.refused = null;
    failures = slots.last === before ? failures + 1 : 0;
    const verdict = brought || before === null ? 'other' : await reachOf(client, error, before);
    emptyEnds = brought ? 0 : emptyEnds + (verdict === 'perhaps' ? 1 : 0);
    // Whatever the end says: where others are served and this is not, it is what is asked for.
    const isStuck = failures >= (brought ? MOST_STUCK_ENDS : MOST_EMPTY_ENDS);
    const isOurs = brought && error.cancelled && reason !== TOO_MUCH;
    if (verdict !== 'other' || !isStuck || isOurs) looks = 0;
    else if (before !== null)
      looks = (await takesLive(client, options.subscription(null), signal)) ? looks + 1 : 0;
    if (verdict === 'gone' || emptyEnds === MOST_EMPTY_ENDS || looks === MOST_LOOKS) {
      logger.warn(
        { slot: String(before), reason, code },
        'the stream does not go on from here: opening a gap',
      );
      options.onOutOfReach((before as bigint) + 1n);
      slots.beginAnew();
      failures = 0;
      emptyEnds = 0;
      looks = 0;
    } else if (isHole) {
      skip(options, hole);
      failures = 0;
    }
    holeBefore = hole?.fromSlot ?? null;
    logger.warn({ reason, code, failures }, 'the stream ended');
    await pause(backoffMs(failures), signal);
  }
}

/** What the end of a replay that brought nothing says of it; where its words do not, what the server says it keeps. */
async function reachOf(
  client: GeyserClient,
  ended: StreamEndedError,
  fromSlot: bigint,
): Promise<ReturnType<typeof replayEnd>> {
  const said = replayEnd(ended);
  if (said !== 'perhaps') return said;
  try {
    const first = await client.firstReplayed();
    return first === null || first > fromSlot ? 'gone' : said;
  } catch {
    return said;
  }
}

function skip({ slots, logger, onHole }: SupervisorOptions, hole: Gap): void {
  logger.warn({ fromSlot: hole.fromSlot.toString() }, 'the stream lacks slots: opening a gap');
  onHole(hole, slots.skipTo(hole.toSlot));
}

function holeIn(slots: Slots, after = HOLE_AFTER_SLOTS): Gap | null {
  const missing = slots.missing();
  return missing !== null && missing.waiting > after ? missing : null;
}

/** Where a beginning is so far ahead of the log that it has to be known to be of the same chain. */
function aheadOf(
  slot: bigint,
  time: number | null,
  { slot: reached, sameAt }: Omit<Reached, 'refused'>,
): SlotTime | null {
  if (reached === null || slot <= reached + MOST_AHEAD_SLOTS) return null;
  const isKnown = sameAt !== null && slot >= sameAt && slot <= sameAt + MOST_AHEAD_SLOTS;
  return isKnown ? null : { slot, time };
}

/** Likewise, where what is behind a hole is. */
const farBehind = ({ fromSlot, toSlot, toTime }: Gap, { sameAt }: Reached): SlotTime | null =>
  aheadOf(toSlot, toTime, { slot: fromSlot, sameAt });

type Begun = Extract<SlotsOutput, { type: 'begun' }>;
const isBegun = (output: SlotsOutput): output is Begun => output.type === 'begun';

function oneStream(options: SupervisorOptions, fromSlot: bigint | null, reached: Reached): Promise<Ended> {
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
        if (begun !== undefined) ahead = aheadOf(begun.slot, begun.blockTime, reached);
        if (ahead !== null) {
          if (begun !== undefined) slots.beginAnew(outputs);
          stream.cancel(FAR_AHEAD);
          return;
        }
        dog.heard(slots.highest, slots.last);
        options.onUpdate(update, outputs);
        if (update.type === 'blockMeta') parentless = isParentless(update) ? parentless + 1 : 0;
        if (parentless === MOST_PARENTLESS) stream.cancel(PARENTLESS);
        else if (slots.overflowing) stream.cancel(TOO_MUCH);
        else if (update.type === 'blockMeta' && holeIn(slots) !== null) stream.cancel('slots are missing');
        else if (!replayed) {
          // A replay with nothing in it brings nothing the next time either: the stream goes on behind it.
          const hole = holeIn(slots, NO_REPLAY_AFTER_SLOTS);
          ahead = hole === null ? null : farBehind(hole, reached);
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
