import { type Changes, noteKeys } from '../../../clickhouse/changes.ts';
import { HISTORY_TOPICS, type LogBatch } from '../../log/port.ts';

/** Changes that were written and that no reader was told of yet, by place: a partition of the log. */
export interface UnannouncedChanges {
  /**
   * The changes of a place, to be added to; they keep what failed tries of a batch wrote, which is not new to the next.
   */
  of(place: string): Changes;
  /**
   * The process that had the place before may have died before it announced what it wrote, which is not new here
   * either.
   */
  takenOver(place: string, batch: LogBatch): void;
  announced(place: string): void;
}

export function createUnannouncedChanges(): UnannouncedChanges {
  const unannounced = new Map<string, Changes>();
  /**
   * The assignment of the last takeover: a process that reads beside the owner takes over with each batch; once is
   * enough.
   */
  const takenOverBy = new Map<string, number | null>();

  const of = (place: string): Changes => {
    const changes = unannounced.get(place) ?? new Map();
    unannounced.set(place, changes);
    return changes;
  };
  return {
    of,
    takenOver: (place, { topic, assignment = null }) => {
      if (!HISTORY_TOPICS.includes(topic) || takenOverBy.get(place) === assignment) return;
      takenOverBy.set(place, assignment);
      for (const table of ['unseen_changes', 'dead_letters'] as const) noteKeys(of(place), table, ['']);
    },
    announced: (place) => void unannounced.delete(place),
  };
}
