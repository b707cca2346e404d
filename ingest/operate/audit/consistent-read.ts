import { pause } from '../../../runtime/process/lifecycle.ts';
import type { AuditContext } from './context.ts';

const TRIES = 12;

export interface Reads<Facts, Stored> {
  facts(): Promise<Facts>;
  /** How many of these events are of a batch that has not written all that follows from them. */
  unapplied(): Promise<number>;
  stored(): Promise<Stored>;
}

export type ConsistentRead<Facts, Stored> =
  | { consistent: true; facts: Facts; stored: Stored }
  | { consistent: false; reason: string };

/**
 * Facts and the sums over them as they stand together. A batch writes events, then sums, then marks its events as
 * applied: where all events are so marked, and the same before and after the sums were read, the sums are of these
 * facts. Beside a live system that is so after a few tries; where it never is, the reason says what kept moving.
 */
export async function readConsistently<Facts, Stored>(
  reads: Reads<Facts, Stored>,
  { signal, pauseMs }: Pick<AuditContext, 'signal' | 'pauseMs'>,
): Promise<ConsistentRead<Facts, Stored>> {
  let reason = 'stopped before the second reads';
  for (let attempt = 0; attempt < TRIES && !signal.aborted; attempt += 1) {
    if (attempt > 0) await pause(pauseMs, signal);
    const before = await reads.facts();
    const unapplied = await reads.unapplied();
    const stored = await reads.stored();
    const after = await reads.facts();
    if (unapplied > 0) reason = 'events of a batch that is not applied yet';
    else if (JSON.stringify(before) !== JSON.stringify(after)) reason = 'written to all the time';
    else return { consistent: true, facts: after, stored };
  }
  return { consistent: false, reason };
}
