import { Counter, Gauge, type Registry } from 'prom-client';
import type { StreamState } from '../../schemas/stream-state.ts';
import type { StreamEvent } from './event.ts';
import { initialStreamState, stateAfter } from './state.ts';

/** The stream's metrics for Prometheus, kept up to date by its events. */
export function streamMetrics(registry: Registry): {
  onEvent(event: StreamEvent): void;
  state(): StreamState;
} {
  const registers = [registry];
  const tip = new Gauge({ name: 'stream_tip_slot', help: 'Highest slot heard of.', registers });
  const released = new Gauge({
    name: 'stream_released_slot',
    help: 'Last slot that the log has acknowledged whole.',
    registers,
  });
  const records = new Counter({
    name: 'stream_records_total',
    help: 'Updates that the log has acknowledged.',
    labelNames: ['kind'],
    registers,
  });
  const late = new Counter({
    name: 'stream_late_updates_total',
    help: 'Updates of slots that were released before.',
    registers,
  });
  const disconnects = new Counter({
    name: 'stream_disconnects_total',
    help: 'Times that the stream ended after it had brought slots; attempts that are refused do not count.',
    registers,
  });
  const followed = new Gauge({
    name: 'stream_followed_addresses',
    help: 'Addresses beyond what the program owns whose states are wanted.',
    registers,
  });
  const overRpc = new Gauge({
    name: 'stream_followed_over_rpc',
    help: 'Of them, how many the provider does not stream: they are read over RPC in turns.',
    registers,
  });
  const verified = new Gauge({
    name: 'stream_verified_slot',
    help: 'Up to which slot what is stored was compared with the chain.',
    registers,
  });
  const mended = new Counter({
    name: 'stream_mended_transactions_total',
    help: 'Transactions that the stream left out or told in two ways and were read, or that the chain does not have and were struck out.',
    labelNames: ['how'],
    registers,
  });
  const open = new Set<bigint>();
  new Gauge({
    name: 'stream_gaps_open',
    help: 'Intervals of slots whose transactions history is still reading.',
    registers,
    collect() {
      this.set(open.size);
    },
  });
  let stream = initialStreamState(Date.now());
  new Gauge({
    name: 'stream_connected',
    help: '1 while slots come, 0 while the stream is down.',
    registers,
    collect() {
      this.set(stream.state.connected ? 1 : 0);
    },
  });
  new Gauge({
    name: 'stream_state_since_seconds',
    help: 'Unix time since which the stream is as it is.',
    registers,
    collect() {
      this.set(stream.state.since / 1_000);
    },
  });
  return {
    state: () => stream.state,
    onEvent: (event) => {
      const { connected } = stream.state;
      stream = stateAfter(stream, event, Date.now());
      if (event.type === 'tip') tip.set(Number(event.slot));
      else if (event.type === 'late') late.inc();
      else if (event.type === 'connected' || event.type === 'listed') return;
      else if (event.type === 'compared' || event.type === 'stalled') return;
      else if (event.type === 'followed') {
        followed.set(event.addresses);
        overRpc.set(event.overRpc);
      } else if (event.type === 'verified') {
        verified.set(Number(event.slot));
        mended.inc({ how: 'read' }, event.read);
        mended.inc({ how: 'struck' }, event.struck);
      } else if (event.type === 'gap' && event.open) open.add(event.gap.fromSlot);
      else if (event.type === 'gap') open.delete(event.gap.fromSlot);
      else if (event.type === 'disconnected') disconnects.inc(connected ? 1 : 0);
      else {
        released.set(Number(event.slot));
        records.inc({ kind: 'account' }, event.accounts);
        records.inc({ kind: 'transaction' }, event.transactions);
      }
    },
  };
}
