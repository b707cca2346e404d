import { Registry } from 'prom-client';
import { afterEach, expect, test, vi } from 'vitest';
import type { StreamEvent } from '../../../ingest/stream/event.ts';
import { streamMetrics } from '../../../ingest/stream/metrics.ts';
import {
  createStateTeller,
  initialStreamState,
  type KnownStream,
  stateAfter,
  streamWords,
} from '../../../ingest/stream/state.ts';
import type { ListStatus } from '../../../ingest/stream/sweeps/list-proof.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { STREAM_HEARTBEAT_MS, type StreamState } from '../../../schemas/stream-state.ts';

afterEach(() => void vi.useRealTimers());

const refused = {
  type: 'followed',
  addresses: 12,
  overRpc: 2,
  reason: 'only 10 allowed',
  down: null,
} as const;

function after(events: readonly StreamEvent[]): KnownStream {
  return events.reduce(
    (known, event, at) => stateAfter(known, event, 1_000 * (at + 1)),
    initialStreamState(0),
  );
}

test('a refused account list is given as a reason while the stream is connected, beside other reasons', () => {
  const unlisted = after([{ type: 'connected' }, { type: 'listed', listed: 'refused', slot: 9n }]);
  expect(unlisted.state).toMatchObject({ connected: true, since: 2_000 });
  expect(unlisted.state.reason).toMatch(/^SOLANA_RPC_URL refuses getProgramAccounts: /);
  const both = stateAfter(unlisted, refused, 3_000);
  expect(both.state.reason).toMatch(/^SOLANA_RPC_URL refuses .*; 2 of 12 followed addresses/);
  expect(both.state.since).toBe(2_000);
  expect(stateAfter(unlisted, { type: 'listed', listed: 'unproved', slot: 9n }, 4_000).state).toMatchObject({
    reason: null,
    since: 4_000,
  });
});

test('complete lists are reported with the slot of their first proof, until a list is partial', () => {
  const told = (...lists: [listed: ListStatus, slot: bigint][]) => {
    const { state } = after(lists.map(([one, slot]) => ({ type: 'listed', listed: one, slot })));
    return [state.listed, state.listedSlot];
  };
  expect(told(['unproved', 5n])).toEqual([false, null]);
  expect(told(['unproved', 5n], ['proved', 9n])).toEqual([true, '9']);
  expect(told(['proved', 9n], ['unproved', 20n], ['proved', 21n])).toEqual([true, '9']);
  expect(told(['proved', 9n], ['part', 20n])).toEqual([false, null]);
  expect(told(['proved', 9n], ['part', 20n], ['proved', 31n])).toEqual([true, '31']);
  const taken = stateAfter(
    initialStreamState(0, '7'),
    { type: 'listed', listed: 'proved', slot: 50n },
    1_000,
  );
  expect(taken.state).toMatchObject({ listed: true, listedSlot: '7' });
});

test('stalled history is the first reason, with the time since when, until it goes on', () => {
  const still = after([{ type: 'connected' }, { type: 'stalled', reason: 'SOLANA_RPC_URL (timed out)' }]);
  expect(streamWords(still.state)).toBe(
    'since 1970-01-01T00:00:02.000Z: history stands still: SOLANA_RPC_URL (timed out)',
  );
  expect(stateAfter(still, refused, 3_000).state.reason).toMatch(
    /^history stands still: .*; 2 of 12 followed/,
  );
  expect(stateAfter(still, { type: 'stalled', reason: null }, 4_000).state).toMatchObject({
    reason: null,
    since: 4_000,
  });
});

test('the state says since when it holds, and why if it is not connected', () => {
  expect(after([{ type: 'connected' }, { type: 'connected' }]).state).toMatchObject({
    connected: true,
    since: 1_000,
  });
  const down = after([
    { type: 'connected' },
    { type: 'disconnected', reason: 'gone' },
    { type: 'disconnected', reason: 'refused' },
  ]);
  expect(down.state).toMatchObject({ connected: false, since: 2_000, reason: 'refused' });
  expect(streamWords(down.state)).toBe('not connected since 1970-01-01T00:00:02.000Z: refused');
  expect(streamWords(after([{ type: 'connected' }]).state)).toBeNull();
});

test('the metric of breaks counts each end of a stream that brought slots, and no attempt that was refused', async () => {
  const registry = new Registry();
  const { onEvent } = streamMetrics(registry);
  const breaks = async () => /^stream_disconnects_total (\d+)/m.exec(await registry.metrics())?.[1];
  const refused = () => onEvent({ type: 'disconnected', reason: 'refused' });
  refused();
  expect(await breaks()).toBe('0');
  for (const count of ['1', '2']) {
    onEvent({ type: 'connected' });
    onEvent({ type: 'disconnected', reason: 'gone' });
    for (let attempt = 0; attempt < 5; attempt += 1) refused();
    expect(await breaks()).toBe(count);
  }
});

test('addresses that the provider does not take are reported while the stream goes on, with the reason', () => {
  const known = after([{ type: 'connected' }, refused]);
  expect(known.state).toMatchObject({ connected: true, since: 2_000, addresses: 12, overRpc: 2 });
  expect(streamWords(known.state)).toContain('2 of 12 followed addresses are read over RPC: only 10 allowed');
  expect(stateAfter(known, refused, 9_000)).toBe(known);
  expect(stateAfter(known, { ...refused, overRpc: 0, reason: null }, 9_000).state).toMatchObject({
    reason: null,
  });
});

test('addresses that are not taken or not streamed are reported again when the core stream is back', () => {
  const again: StreamEvent[] = [{ type: 'disconnected', reason: 'gone' }, { type: 'connected' }];
  const known = after([{ type: 'connected' }, refused, ...again]);
  expect(known.state).toMatchObject({ connected: true, since: 4_000, overRpc: 2 });
  expect(streamWords(known.state)).toContain('2 of 12 followed addresses are read over RPC: only 10 allowed');
  const down = { ...refused, overRpc: 0, reason: null, down: 'the provider is not reachable' };
  const without = after([{ type: 'connected' }, down, ...again]);
  expect(streamWords(without.state)).toContain('are not streamed: the provider is not reachable');
  expect(stateAfter(without, { ...down, down: null }, 9_000).state).toMatchObject({
    reason: null,
    since: 9_000,
  });
  expect(streamWords(stateAfter(without, { ...down, overRpc: 12 }, 9_000).state)).toBe(
    'since 1970-01-01T00:00:04.000Z: the followed addresses are not streamed, they are read over RPC in turns: the provider is not reachable',
  );
});

/** A teller over a log whose first `failures` appends fail: counts the appends, and keeps the states that are logged. */
function telling(failures: number) {
  const told: StreamState[] = [];
  const stop = new AbortController();
  let appends = 0;
  const append = async ([record]: readonly LogRecord[]) => {
    appends += 1;
    if (appends <= failures) throw new Error('away');
    if (record?.kind === 'reading' && record.reading.type === 'stream') told.push(record.reading);
  };
  const teller = createStateTeller({
    log: { append },
    listedSlot: null,
    logger: createLogger('silent', 'test'),
    signal: stop.signal,
  });
  return { teller, stop, told, appends: () => appends };
}

test('the newest state is the last in the log, even if appending an earlier one failed', async () => {
  const { teller, stop, told } = telling(1);
  const running = teller.run();
  for (const event of [{ type: 'connected' }, { type: 'disconnected', reason: 'gone' }] as const) {
    teller.onEvent(event);
    await new Promise((resolve) => setImmediate(resolve));
  }
  stop.abort();
  await running;
  expect(told.at(-1)).toMatchObject({ connected: false, reason: 'gone' });
});

test('a state whose append failed is logged at the next heartbeat, although nothing changes any more', async () => {
  vi.useFakeTimers();
  const { teller, stop, told, appends } = telling(2);
  teller.onEvent({ type: 'connected' });
  teller.onEvent({ type: 'disconnected', reason: 'gone' });
  const running = teller.run();
  await vi.advanceTimersByTimeAsync(STREAM_HEARTBEAT_MS);
  expect([appends(), told]).toEqual([2, []]);
  await vi.advanceTimersByTimeAsync(STREAM_HEARTBEAT_MS);
  expect(told).toMatchObject([{ connected: false, reason: 'gone' }]);
  // A reader that is told no state for three heartbeats holds none to be true.
  await vi.advanceTimersByTimeAsync(STREAM_HEARTBEAT_MS);
  expect(told).toEqual(Array(2).fill(told[0]));
  stop.abort();
  await running;
});
