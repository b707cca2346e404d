import { addChanges, type Changes } from '../../clickhouse/changes.ts';
import type { Store } from '../../clickhouse/client.ts';
import { appliedMarker } from '../../clickhouse/queries/progress/applied-marker.ts';
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
  /** Whether there may be something to take; the answer of a store counts as its contact. */
  moved(): Promise<boolean>;
  /** Set where who writes hands it over: whether something waits to be taken, and whether it is known what. */
  waiting?(): 'nothing' | 'rows' | 'anything';
}

/** Handed over by the materialiser of the same process. */
export interface HandOver extends Feed {
  /** These rows were written. */
  note(changes: Changes): void;
  /** A batch is applied: what it wrote was noted. */
  applied(): void;
  /** Anything may have been written. */
  advance(): void;
  /** Called with every batch. */
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
    advance: () => {
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
    // What is announced from here on is the next turn's: this one may have read how far the index is before it.
    moved: async () => {
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

/** Between two looks at what was changed while the index stands. */
const STANDS_MS = 1_000;

/**
 * Read from the table of changes of a database that other processes write to. While the machine sleeps `monotonic` stands,
 * and the table forgets all the same: how long ago something was read is told by both clocks.
 * @param clock Unix milliseconds; put forward or back by much it tells nothing, and what is in memory is read anew
 */
export function createTableFeed(store: Store, monotonic: () => number, clock: () => number): Feed {
  let place: ChangePlace | null = null;
  let readAt = { ran: 0, wall: 0 };
  let marker = '';
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
    moved: async () => {
      const now = instant();
      const applied = await appliedMarker(store);
      const stands = applied === marker;
      marker = applied;
      if (stands && now.ran - lookedAt < STANDS_MS) return false;
      lookedAt = now.ran;
      if (!stands || place === null || mayHaveForgotten(now)) return true;
      // Who reads the log again beside a partition's owner changes rows, and has no place in the log.
      const { changes } = await changesAfter(store, place);
      if (changes === null || changes.size > 0) return true;
      readAt = now;
      return false;
    },
  };
}
