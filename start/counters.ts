import type { LogBatch } from '../ingest/log/port.ts';
import type { StreamEvent } from '../ingest/stream/stream.ts';

/** What the first screen shows of a running system. */
export interface Counters {
  /** Highest slot heard of, and last slot that is in every figure. */
  tipSlot: bigint;
  appliedSlot: bigint;
  updates: number;
  connected: boolean;
  /** Open gaps by their first slot, with the slot that history has come down to. */
  gaps: Map<bigint, bigint>;
  lateUpdates: number;
  /** Followed addresses that no stream carries. */
  overRpc: number;
  streamed(event: StreamEvent): void;
  applied(batch: LogBatch): void;
}

export function createCounters(): Counters {
  const counters: Counters = {
    tipSlot: 0n,
    appliedSlot: 0n,
    updates: 0,
    connected: false,
    gaps: new Map(),
    lateUpdates: 0,
    overRpc: 0,
    streamed: (event) => {
      if (event.type === 'tip') counters.tipSlot = event.slot;
      else if (event.type === 'connected') counters.connected = true;
      else if (event.type === 'disconnected') counters.connected = false;
      else if (event.type === 'followed') counters.overRpc = event.overRpc;
      else if (event.type === 'verified') return;
      else if (event.type === 'late') counters.lateUpdates += 1;
      else if (event.type === 'gap' && event.open) counters.gaps.set(event.gap.fromSlot, event.gap.toSlot);
      else if (event.type === 'gap') counters.gaps.delete(event.gap.fromSlot);
      else {
        counters.connected = true;
        counters.updates += event.accounts + event.transactions;
      }
    },
    applied: (batch) => {
      if (batch.topic !== 'transactions') return;
      for (const { record } of batch.entries) {
        if (record.kind === 'marker' && record.slot > counters.appliedSlot)
          counters.appliedSlot = record.slot;
      }
    },
  };
  return counters;
}
