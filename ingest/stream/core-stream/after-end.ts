import type { Gap } from '../../history/gap.ts';
import { replayEnd, type StreamEndedError } from '../geyser/ended.ts';
import type { Reached } from './chain-ahead.ts';

/**
 * Ended by this side, but not counted as such: a slot that is larger than may wait is one that the stream cannot bring.
 */
export const TOO_MUCH_PENDING = 'too much waits for slots to be complete';
/** Ends in a row of a replay without one update, until the past is left to history. */
const MOST_EMPTY_ENDS = 3;
/** Ends in a row with updates but without a released slot: there is a slot that the provider cannot send. */
const MOST_STUCK_ENDS = 4;
/**
 * Probes in a row that show a request without a replay to be taken, after ends that say nothing of the replay, until
 * the replay counts as refused.
 */
const MOST_LOOKS = 2;

/** How a stream ended, and where it left the slots. */
export interface StreamEnd {
  error: StreamEndedError;
  /** Whether anything but a ping came. */
  brought: boolean;
  /** The last released slot at the subscription (`from`), and at the end (`last`). */
  from: bigint | null;
  last: bigint | null;
  /** The slots that the stream lacks; null: none. */
  hole: Gap | null;
  /**
   * The slot far ahead of the log at which the stream would go on, and why nothing is taken of it there; `refused`
   * null: it is taken.
   */
  far: { slot: bigint; refused: string | null } | null;
}

/** What is remembered of earlier ends. */
export interface EarlierEnds {
  reached: Reached;
  /** Why a stream far ahead of the log was refused last; null where none was, or one was taken since. */
  refused: string | null;
  /** Ends in a row behind which no slot was released. */
  failures: number;
  emptyEnds: number;
  looks: number;
  /** Where the last hole began. */
  holeBefore: bigint | null;
}

/**
 * What a provider can be asked after an end: whether it keeps the replay, and whether it takes a request without one.
 */
export type Probe = 'keepsReplay' | 'takesLive';
export type ProbeAnswers = Partial<Record<Probe, boolean>>;

/** What follows once all questions are answered, and what is remembered for the next end. */
export type Next = { known: EarlierEnds } & (
  | { type: 'again' }
  /** The stream is far ahead of the log, and of the same chain. */
  | { type: 'taken' }
  | { type: 'refused'; words: string }
  /** The replay brought the same hole again: the stream goes on behind it. */
  | { type: 'skip'; hole: Gap }
  /** The stream cannot bring the slots from this one on. */
  | { type: 'outOfReach'; fromSlot: bigint }
);
export type Decision = Next | { type: 'ask'; question: Probe };

export const noEarlierEnds = (last: bigint | null): EarlierEnds => ({
  reached: { slot: last, sameAt: null },
  refused: null,
  ...{ failures: 0, emptyEnds: 0, looks: 0, holeBefore: null },
});

/** The hole where it is the same as at the end before, so that the stream cannot bring those slots; else null. */
export const sameHole = (hole: Gap | null, { holeBefore }: Pick<EarlierEnds, 'holeBefore'>): Gap | null =>
  hole?.fromSlot === holeBefore ? hole : null;

/**
 * Decides what follows the end of a stream. Answers with a question as long as `told` lacks an answer that it needs.
 * Pure.
 */
export function decideAfterEnd(end: StreamEnd, known: EarlierEnds, told: ProbeAnswers = {}): Decision {
  const { error, brought, from, last, hole, far } = end;
  if (far !== null) return afterFar(far, known);
  const refused = last === from ? known.refused : null;
  const failures = last === from ? known.failures + 1 : 0;
  const reach = brought || from === null ? 'other' : reachOf(error, told);
  if (reach === 'ask') return { type: 'ask', question: 'keepsReplay' };
  const emptyEnds = brought ? 0 : known.emptyEnds + (reach === 'perhaps' ? 1 : 0);
  // Whatever the end says: a provider that serves other requests, but not this one, objects to what this one asks for.
  const isStuck = failures >= (brought ? MOST_STUCK_ENDS : MOST_EMPTY_ENDS);
  const isOurs = brought && error.cancelled && error.message !== TOO_MUCH_PENDING;
  let { looks } = known;
  if (reach !== 'other' || !isStuck || isOurs) looks = 0;
  else if (from !== null) {
    if (told.takesLive === undefined) return { type: 'ask', question: 'takesLive' };
    looks = told.takesLive ? looks + 1 : 0;
  }
  const next: EarlierEnds = {
    ...{ reached: known.reached, refused, failures, emptyEnds, looks },
    holeBefore: hole?.fromSlot ?? null,
  };
  const isOutOfReach = reach === 'gone' || emptyEnds === MOST_EMPTY_ENDS || looks === MOST_LOOKS;
  if (isOutOfReach)
    return {
      ...{ type: 'outOfReach', fromSlot: (from as bigint) + 1n },
      known: { ...next, failures: 0, emptyEnds: 0, looks: 0 },
    };
  const again = sameHole(hole, known);
  if (again !== null) return { type: 'skip', hole: again, known: { ...next, failures: 0 } };
  return { type: 'again', known: next };
}

function afterFar({ slot, refused }: NonNullable<StreamEnd['far']>, known: EarlierEnds): Next {
  const sameAt = refused === null ? slot : null;
  const failures = refused === null ? 0 : known.failures + 1;
  const next = { ...known, reached: { ...known.reached, sameAt }, refused, failures };
  return refused === null ? { type: 'taken', known: next } : { type: 'refused', words: refused, known: next };
}

/**
 * What the end of a replay that brought nothing says of the replay; where its words do not decide, what the server says
 * that it keeps does.
 */
function reachOf(
  error: StreamEndedError,
  { keepsReplay }: ProbeAnswers,
): ReturnType<typeof replayEnd> | 'ask' {
  const said = replayEnd(error);
  if (said !== 'perhaps') return said;
  if (keepsReplay === undefined) return 'ask';
  return keepsReplay ? said : 'gone';
}
