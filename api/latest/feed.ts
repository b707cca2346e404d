import { addChanges, type Changes } from '../../clickhouse/changes.ts';
import type { Store } from '../../clickhouse/client.ts';
import {
  type AppliedMark,
  appliedMarker,
  hasFallen,
} from '../../clickhouse/queries/progress/applied-marker.ts';
import {
  CHANGES_KEPT_MS,
  type ChangePlace,
  changePlace,
  changesAfter,
} from '../../clickhouse/queries/progress/changes.ts';

/** Tells which rows of a database were written. */
export interface Feed {
  /** What was written since the last call; null where that is not known: anything may have been. */
  take(): Promise<Changes | null>;
  /** Whether there may be something to take. Where this asks the store, its answer counts as contact with it. */
  mayHaveChanges(): Promise<boolean>;
  /** Present where the writer hands over its changes: whether any wait to be taken, and whether it is known which. */
  waiting?(): 'nothing' | 'rows' | 'anything';
}

/** Changes handed over by the materialiser of the same process. */
export interface HandOver extends Feed {
  /** These rows were written. */
  note(changes: Changes): void;
  /** A batch is applied, and all that it wrote was noted. */
  applied(): void;
  /** Anything may have been written. */
  noteUnknownChanges(): void;
  /** Adds a listener that is called with every `applied` and `noteUnknownChanges`. */
  onApplied(listener: () => void): void;
}

export function createHandOver(): HandOver {
  let noted: Changes | null = new Map();
  let dirty = false;
  const listeners: (() => void)[] = [];
  const tell = () => {
    for (const listener of listeners) listener();
  };
  return {
    note: (changes) => {
      dirty = true;
      if (noted !== null) addChanges(noted, changes);
    },
    applied: () => {
      dirty = true;
      tell();
    },
    noteUnknownChanges: () => {
      dirty = true;
      noted = null;
      tell();
    },
    onApplied: (listener) => void listeners.push(listener),
    take: async () => {
      const taken = noted;
      noted = new Map();
      return taken;
    },
    // A batch announced from here on has another turn follow: this turn may have read the marker before it moved.
    mayHaveChanges: async () => {
      const was = dirty;
      dirty = false;
      return was;
    },
    waiting: () => {
      if (noted === null) return 'anything';
      return dirty ? 'rows' : 'nothing';
    },
  };
}

/** Between two reads of the table of changes while the applied marker stands still. */
const STANDS_MS = 1_000;
/** The longest that a database that was made anew once more waits to be read anew. */
const FALLEN_MS = 30_000;

/**
 * A feed from the table of changes, for a database that other processes write to. While the machine sleeps `monotonic`
 * stands still, but the table drops old rows all the same: both clocks tell how long ago it was last read. Where less is
 * applied than was, the database was lost and made anew, or restored from an older backup: anything may have changed.
 * @param clock Unix milliseconds; where it jumps far forward or back, all that is in memory is read again
 */
export function createTableFeed(store: Store, monotonic: () => number, clock: () => number): Feed {
  let place: ChangePlace | null = null;
  let readAt = { ran: 0, wall: 0 };
  let marker: AppliedMark | null = null;
  /**
   * When a database that was made anew was read last, and how long until it is read anew again, as a backup may be
   * restored one table after the other. The waits double, and end after about an hour.
   */
  let anew: { at: number; wait: number } | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const instant = () => ({ ran: monotonic(), wall: clock() });
  const mayHaveForgotten = ({ ran, wall }: typeof readAt) =>
    Math.max(ran - readAt.ran, Math.abs(wall - readAt.wall)) > CHANGES_KEPT_MS;
  return {
    take: async () => {
      const now = instant();
      if (place === null || mayHaveForgotten(now)) {
        place = await changePlace(store);
        readAt = now;
        return null;
      }
      const read = await changesAfter(store, place);
      place = read.place;
      readAt = now;
      return read.changes;
    },
    mayHaveChanges: async () => {
      const now = instant();
      const applied = await appliedMarker(store);
      const stands = applied.text === marker?.text;
      // Where it falls again and again, as behind an address of two servers, memory is not reset each time.
      if (marker !== null && hasFallen(marker, applied))
        anew = { at: anew?.at ?? now.ran, wait: Math.min(anew?.wait ?? 0, FALLEN_MS) };
      marker = applied;
      // The changes of a table that was made anew say nothing of what was there before.
      if (anew !== null && now.ran - anew.at >= anew.wait) {
        place = null;
        anew = anew.wait > CHANGES_KEPT_MS ? null : { at: now.ran, wait: Math.max(STANDS_MS, 2 * anew.wait) };
      }
      if (stands && now.ran - lookedAt < STANDS_MS) return false;
      lookedAt = now.ran;
      if (!stands || place === null || mayHaveForgotten(now)) return true;
      // A process that reads the log again beside a partition's owner changes rows without moving the marker.
      const { changes } = await changesAfter(store, place);
      if (changes === null || changes.size > 0) return true;
      readAt = now;
      return false;
    },
  };
}
