import type { Store } from '../../clickhouse/client.ts';
import { undatedEvents } from '../../clickhouse/queries/analytics/undated.ts';
import { withTimes } from '../../clickhouse/queries/progress/gap-times.ts';
import {
  type AppliedState,
  type GapState,
  gapStates,
  type IncompleteState,
  incompleteState,
  missingMark,
  openOf,
} from '../../clickhouse/queries/progress/index-state.ts';
import { timeOf } from '../../schemas/units.ts';

/** How far the index is and what is missing from it: decides which sums of events can be served. */
export interface IndexState {
  applied: AppliedState;
  gaps: readonly GapState[];
  openGaps: readonly GapState[];
  incomplete: IncompleteState;
  /** Block time of the lowest marker: the time that a sum of no events is served with. */
  markerTime: string | null;
  /** Block time of the lowest slot up to which followed addresses are applied too. */
  followedTime: string | null;
  /** Whether the index has come to a slot. */
  hasReached(slot: string): boolean;
  /**
   * Whether this is what is missing now; false where it changes faster than it can be read, and this is slightly older.
   */
  isSettled: boolean;
  /** Why sums of events are absent; null where history is complete. */
  historyReason: string | null;
}

/** What is known to be missing, and its mark, which was the same before and after it was read. */
export interface Missing {
  mark: string;
  gaps: readonly GapState[];
  incomplete: IncompleteState;
}

/** What is missing at this mark; null where the mark is another by now. */
export async function missingByMark(
  store: Store,
  known: Missing | null,
  mark: string,
): Promise<Missing | null> {
  // The mark does not cover how far an open gap has come, nor which later slots bound the time of an undated event.
  const open =
    known === null ||
    known.gaps.some((gap) => gap.open_partitions > 0 || gap.behind > 0) ||
    known.incomplete.undatedEvents.some(({ latest }) => latest === null);
  if (known?.mark === mark && !open) return known;
  const [gaps, incomplete] = await Promise.all([
    gapStates(store),
    known?.mark === mark ? withEvents(store, known.incomplete) : incompleteState(store),
  ]);
  const timed = await withTimes(store, gaps);
  return (await missingMark(store)) === mark ? { mark, gaps: timed, incomplete } : null;
}

/** What is missing, read without a mark and so not of one moment: no sum can be served by it. */
export async function glanceAtMissing(store: Store): Promise<Missing> {
  const [gaps, incomplete] = await Promise.all([gapStates(store), incompleteState(store)]);
  return { mark: '', gaps, incomplete };
}

/**
 * Reads only the events again: the incomplete transactions are those of the mark, and may be many where strangers make
 * them.
 */
const withEvents = async (store: Store, incomplete: IncompleteState): Promise<IncompleteState> => ({
  ...incomplete,
  undatedEvents: await undatedEvents(store),
});

const RESTLESS = 'history is not complete: what is missing of it is changing at this moment';

/**
 * @param missing what was last known to be missing.
 * @param isSettled false where that changes faster than it can be read.
 */
export function stateOf(applied: AppliedState, missing: Missing, isSettled: boolean): IndexState {
  const { gaps, incomplete } = missing;
  const openGaps = openOf(gaps, applied);
  return {
    applied,
    gaps,
    openGaps,
    incomplete,
    markerTime: timeOf(applied.block_time),
    followedTime: timeOf(applied.followed_time),
    hasReached: (slot) => BigInt(applied.slot) >= BigInt(slot),
    isSettled,
    historyReason: isSettled ? historyReason(applied, gaps, openGaps) : RESTLESS,
  };
}

/** How many gaps, and obstacles that hold them open, a reason names. */
const NAMED = 5;

function historyReason(
  applied: AppliedState,
  gaps: readonly GapState[],
  openGaps: readonly GapState[],
): string | null {
  if (gaps.length === 0 && applied.slot === '0') return 'nothing of the chain is indexed yet';
  if (openGaps.length === 0) return null;
  const slots = openGaps.map((gap) => `${gap.from_slot} to ${gap.to_slot}`);
  const why = openGaps.flatMap(obstacle);
  const which = `${slots.slice(0, NAMED).join(', ')}${others(slots, 'and of', 'gap')}`;
  return [
    `history is not complete: the transactions of slots ${which} are not read yet`,
    `${why.slice(0, NAMED).join('; ')}${others(why, 'and', 'obstacle')}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

/** Counts the entries of a list that are not named. */
function others(all: readonly string[], and: string, what: string): string {
  const count = all.length - NAMED;
  return count <= 0 ? '' : ` ${and} ${count} more ${what}${count === 1 ? '' : 's'}`;
}

function obstacle({ unread, first_slot: first }: GapState): string[] {
  if (unread !== null) return [`transaction ${unread} cannot be read`];
  if (first === null) return [];
  return [
    `the JSON-RPC node's history begins in slot ${first}: name an archive node beside it, or, if the program's first transaction is later, set PROGRAM_START_SLOT to its slot`,
  ];
}
