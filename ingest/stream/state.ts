import { messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { STREAM_HEARTBEAT_MS, type StreamState } from '../../schemas/stream-state.ts';
import type { LogWriter } from '../log/port.ts';
import type { StreamEvent } from './event.ts';

const NOT_YET = 'ingestion has begun and no slot has come yet';
const MOST_REASON = 300;

export const unconnected = (now: number): StreamState => ({
  connected: false,
  since: now,
  reason: NOT_YET,
  addresses: 0,
  overRpc: 0,
});

/** What an event makes of the state; the same object where it changes nothing. */
export function stateAfter(state: StreamState, event: StreamEvent, now: number): StreamState {
  if (event.type === 'connected') {
    return state.connected ? state : { ...state, connected: true, since: now, reason: null };
  }
  if (event.type === 'disconnected') {
    const reason = event.reason.slice(0, MOST_REASON);
    const isKnown = !state.connected && state.reason === reason;
    return isKnown
      ? state
      : { ...state, connected: false, since: state.connected ? now : state.since, reason };
  }
  if (event.type !== 'followed') return state;
  const { addresses, overRpc } = event;
  const why = event.reason === null ? '' : `: ${event.reason.slice(0, MOST_REASON)}`;
  const told = overRpc === 0 ? null : `${overRpc} of ${addresses} followed addresses are read over RPC${why}`;
  const reason = state.connected ? told : state.reason;
  if (reason === state.reason && addresses === state.addresses && overRpc === state.overRpc) return state;
  const since = state.connected && (told === null) !== (state.reason === null) ? now : state.since;
  return { ...state, addresses, overRpc, reason, since };
}

/** One line for a person; null where the stream is connected and has everything. */
export function streamWords({ connected, since, reason }: StreamState): string | null {
  if (connected && reason === null) return null;
  const at = new Date(since).toISOString();
  return connected ? `since ${at}: ${reason}` : `not connected since ${at}: ${reason}`;
}

export interface StateTeller {
  onEvent(event: StreamEvent): void;
  /** Runs until the signal is given. */
  run(): Promise<void>;
}

/** Puts the state into the log where it changes, and now and then where it does not: what is not told again expires. */
export function createStateTeller(options: {
  log: Pick<LogWriter, 'append'>;
  logger: Logger;
  signal: AbortSignal;
}): StateTeller {
  const { log, logger, signal } = options;
  let state = unconnected(Date.now());
  let wake = () => {};
  signal.addEventListener('abort', () => wake(), { once: true });
  const tell = async () => {
    const readAt = Date.now();
    try {
      await log.append([{ kind: 'reading', readAt, reading: { type: 'stream', ...state } }]);
    } catch (error) {
      logger.warn({ error: messageOf(error) }, "the stream's state was not told; it is told again");
    }
  };
  return {
    onEvent: (event) => {
      const next = stateAfter(state, event, Date.now());
      if (next === state) return;
      state = next;
      wake();
    },
    run: async () => {
      while (!signal.aborted) {
        const told = state;
        const changed = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await tell();
        if (state !== told) continue;
        const rest = new AbortController();
        await Promise.race([changed, pause(STREAM_HEARTBEAT_MS, AbortSignal.any([signal, rest.signal]))]);
        rest.abort();
      }
    },
  };
}
