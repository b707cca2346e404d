import { pause } from '../../../runtime/lifecycle.ts';
import type { AuditContext } from './context.ts';

const TRIES = 12;

export interface Look<Facts, Stored> {
  facts(): Promise<Facts>;
  /** Events among them whose batch has not written all that follows from them. */
  unsettled(): Promise<number>;
  stored(): Promise<Stored>;
}

export type SecondLook<Facts, Stored> =
  | { still: true; facts: Facts; stored: Stored }
  | { still: false; reason: string };

/**
 * Facts and the sums over them as they stand together. A batch writes events, then sums, then settles its events:
 * where the facts are settled and the same before and after the sums were read, the sums are of these facts.
 * Beside a live system that is so after a few tries; where it never is, the reason says what kept moving.
 */
export async function secondLook<Facts, Stored>(
  look: Look<Facts, Stored>,
  { signal, pauseMs }: Pick<AuditContext, 'signal' | 'pauseMs'>,
): Promise<SecondLook<Facts, Stored>> {
  let reason = 'stopped before the second look';
  for (let attempt = 0; attempt < TRIES && !signal.aborted; attempt += 1) {
    if (attempt > 0) await pause(pauseMs, signal);
    const before = await look.facts();
    const unsettled = await look.unsettled();
    const stored = await look.stored();
    const after = await look.facts();
    if (unsettled > 0) reason = 'events of a batch that is not applied yet';
    else if (JSON.stringify(before) !== JSON.stringify(after)) reason = 'written to all the time';
    else return { still: true, facts: after, stored };
  }
  return { still: false, reason };
}
