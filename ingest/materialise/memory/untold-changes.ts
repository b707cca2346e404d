import { type Changes, noteKeys } from '../../../clickhouse/changes.ts';
import { HISTORY_TOPICS, type LogBatch } from '../../log/port.ts';

/** What was written and nobody was told of yet, of each place of the log. */
export interface UntoldChanges {
  /** Of a place, to be added to: what tries that failed wrote of a batch, in which the next finds no news. */
  of(place: string): Changes;
  /** Whoever had the place before may have died before he told what he found; what he wrote is no news either. */
  takesOver(place: string, batch: LogBatch): void;
  told(place: string): void;
}

export function createUntoldChanges(): UntoldChanges {
  const untold = new Map<string, Changes>();
  /** Who reads beside the owner takes each batch over: once is enough. */
  const takenOverBy = new Map<string, number | null>();

  const of = (place: string): Changes => {
    const changes = untold.get(place) ?? new Map();
    untold.set(place, changes);
    return changes;
  };
  return {
    of,
    takesOver: (place, { topic, assignment = null }) => {
      if (!HISTORY_TOPICS.includes(topic) || takenOverBy.get(place) === assignment) return;
      takenOverBy.set(place, assignment);
      for (const table of ['unseen_changes', 'dead_letters'] as const) noteKeys(of(place), table, ['']);
    },
    told: (place) => void untold.delete(place),
  };
}
