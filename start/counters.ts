import type { LogBatch } from '../ingest/log/port.ts';
import type { StreamEvent } from '../ingest/stream/event.ts';
import { initialStreamState, stateAfter } from '../ingest/stream/state.ts';
import type { StreamState } from '../schemas/stream-state.ts';

/** What the first screen shows of a running system. */
export interface Counters {
  /** Highest slot heard of, and last slot that is in every figure. */
  tipSlot: bigint;
  appliedSlot: bigint;
  /** Block time of that slot, unix seconds; null where it is not known. */
  appliedTime: number | null;
  updates: number;
  stream: StreamState;
  /** Open gaps by their first slot, with the slot that history has come down to. */
  gaps: Map<bigint, bigint>;
  streamed(event: StreamEvent): void;
  applied(batch: LogBatch): void;
}

export function createCounters(): Counters {
  let known = initialStreamState(Date.now());
  const counters: Counters = {
    tipSlot: 0n,
    appliedSlot: 0n,
    appliedTime: null,
    updates: 0,
    stream: known.state,
    gaps: new Map(),
    streamed: (event) => {
      known = stateAfter(known, event, Date.now());
      counters.stream = known.state;
      if (event.type === 'tip') counters.tipSlot = event.slot;
      else if (event.type === 'gap' && event.open) counters.gaps.set(event.gap.fromSlot, event.gap.toSlot);
      else if (event.type === 'gap') counters.gaps.delete(event.gap.fromSlot);
      else if (event.type === 'released') counters.updates += event.accounts + event.transactions;
    },
    applied: (batch) => {
      if (batch.topic !== 'transactions') return;
      for (const { record } of batch.entries) {
        if (record.kind !== 'marker' || record.slot <= counters.appliedSlot) continue;
        counters.appliedSlot = record.slot;
        counters.appliedTime = record.blockTime;
      }
    },
  };
  return counters;
}
