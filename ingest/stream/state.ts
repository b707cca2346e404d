import { messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { otherChainWarning } from '../../runtime/rpc/same-chain.ts';
import { STREAM_HEARTBEAT_MS, type StreamState } from '../../schemas/stream-state.ts';
import type { LogWriter } from '../log/port.ts';
import type { StreamEvent } from './event.ts';
import type { Followed } from './followed-stream/followed-status.ts';
import type { ListStatus } from './sweeps/list-proof.ts';

const NOT_YET = 'ingestion has begun and no slot has come yet';
const MOST_REASON = 300;

/**
 * What is missing while the stream is connected, in words for `reason`; null: nothing. Kept while it is not connected.
 */
interface Lacks {
  /** SOLANA_RPC_URL has addresses of another chain. */
  other: string | null;
  /** History stands still. */
  stalled: string | null;
  /** Not all accounts of the program may be known. */
  unlisted: string | null;
  /** Followed addresses are not all streamed. */
  untaken: string | null;
}

/** The state as the log is told it, and what its reason is made of while the stream is connected. */
export interface KnownStream {
  state: StreamState;
  lacks: Lacks;
}

/** @param listedSlot as the log was told it last. */
export const initialStreamState = (now: number, listedSlot: string | null = null): KnownStream => ({
  state: {
    connected: false,
    since: now,
    reason: NOT_YET,
    addresses: 0,
    overRpc: 0,
    listed: listedSlot !== null,
    listedSlot,
  },
  lacks: { other: null, stalled: null, unlisted: null, untaken: null },
});

/** Why accounts that were not written since the stream began may be unknown, by what became of listing them. */
const UNLISTED: Record<ListStatus, string | null> = {
  refused:
    'SOLANA_RPC_URL refuses getProgramAccounts: of accounts that were not written since those are known that history names',
  silent:
    'SOLANA_RPC_URL does not answer getProgramAccounts: of accounts that were not written since those are known that history names',
  part: "SOLANA_RPC_URL lists only part of the program's accounts (getProgramAccounts): of the others those are known that were written since, or that history names",
  unproved: null,
  proved: null,
};
/**
 * Whether all accounts are known, by what became of listing them; a status without an entry leaves the state as it is.
 */
const ALL_KNOWN: Partial<Record<ListStatus, boolean>> = {
  ...{ refused: false, silent: false, part: false, proved: true },
};

function wordsOf({ other, stalled, unlisted, untaken }: Lacks): string | null {
  const lacks = [other, stalled, unlisted, untaken].filter((one) => one !== null);
  return lacks.length === 0 ? null : lacks.join('; ');
}

/** The state after an event; the same object where the event changes nothing. */
export function stateAfter(known: KnownStream, event: StreamEvent, now: number): KnownStream {
  const { state, lacks } = known;
  if (event.type === 'connected') {
    if (state.connected) return known;
    return { state: { ...state, connected: true, since: now, reason: wordsOf(lacks) }, lacks };
  }
  if (event.type === 'disconnected') {
    const reason = event.reason.slice(0, MOST_REASON);
    if (!state.connected && state.reason === reason) return known;
    return {
      state: { ...state, connected: false, since: state.connected ? now : state.since, reason },
      lacks,
    };
  }
  const told = toldBy(event);
  if (told === null) return known;
  const next = { state: { ...state, ...told.state }, lacks: { ...lacks, ...told.lacks } };
  // Accounts that came up after the first proof were followed: a later proof keeps the slot of the first.
  if (state.listed && next.state.listed) next.state.listedSlot = state.listedSlot ?? null;
  if (state.connected) next.state.reason = wordsOf(next.lacks);
  if (isSame(next.state, state) && isSame(next.lacks, lacks)) return known;
  if (state.connected && (next.state.reason === null) !== (state.reason === null)) next.state.since = now;
  return next;
}

const isSame = <T extends object>(one: T, other: T): boolean =>
  Object.entries(one).every(([name, value]) => other[name as keyof T] === value);

type ToldBy<E> = (event: E) => { state?: Partial<StreamState>; lacks: Partial<Lacks> };
/** Events that hold whether the stream is connected or not. */
type Lasting = Exclude<StreamEvent, { type: 'connected' | 'disconnected' }>;

/** What each event changes; null: nothing. */
const TOLD_BY: { [T in Lasting['type']]: ToldBy<Extract<Lasting, { type: T }>> | null } = {
  listed: ({ listed: status, slot }) => {
    const listed = ALL_KNOWN[status];
    const state = listed === undefined ? {} : { listed, listedSlot: listed ? String(slot) : null };
    return { state, lacks: { unlisted: UNLISTED[status] } };
  },
  compared: ({ others, addresses }) => ({
    lacks: { other: others.length === 0 ? null : otherChainWarning(others, addresses) },
  }),
  stalled: ({ reason }) => ({
    lacks: { stalled: reason === null ? null : `history stands still: ${reason}` },
  }),
  followed: (followed) => {
    const { addresses, overRpc } = followed;
    return { state: { addresses, overRpc }, lacks: { untaken: untakenWords(followed) } };
  },
  released: null,
  late: null,
  tip: null,
  verified: null,
  gap: null,
};

/** The type picks the function of its own event, which the compiler cannot follow through the map. */
const toldBy = (event: Lasting): ReturnType<ToldBy<Lasting>> | null =>
  (TOLD_BY[event.type] as ToldBy<Lasting> | null)?.(event) ?? null;

function untakenWords({ addresses, overRpc, reason, down }: Followed): string | null {
  if (down !== null) {
    const all = overRpc > 0 && overRpc === addresses ? ', they are read over RPC in turns' : '';
    return `the followed addresses are not streamed${all}: ${down.slice(0, MOST_REASON)}`;
  }
  if (overRpc === 0) return null;
  const why = reason === null ? '' : `: ${reason.slice(0, MOST_REASON)}`;
  return `${overRpc} of ${addresses} followed addresses are read over RPC${why}`;
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

/**
 * Tells the log the state at each change, and every STREAM_HEARTBEAT_MS without one: readers let a state expire that is
 * not repeated.
 */
export function createStateTeller(options: {
  log: Pick<LogWriter, 'append'>;
  /**
   * The slot from which on all accounts of the program were known, as told before this process; null: they were not.
   */
  listedSlot: string | null;
  logger: Logger;
  signal: AbortSignal;
}): StateTeller {
  const { log, listedSlot, logger, signal } = options;
  let known = initialStreamState(Date.now(), listedSlot);
  let wake = () => {};
  signal.addEventListener('abort', () => wake(), { once: true });
  const tell = async () => {
    const readAt = Date.now();
    try {
      await log.append([{ kind: 'reading', readAt, reading: { type: 'stream', ...known.state } }]);
    } catch (error) {
      logger.warn({ error: messageOf(error) }, "the stream's state was not told; it is told again");
    }
  };
  return {
    onEvent: (event) => {
      const next = stateAfter(known, event, Date.now());
      if (next === known) return;
      known = next;
      wake();
    },
    run: async () => {
      while (!signal.aborted) {
        const told = known;
        const changed = new Promise<void>((resolve) => {
          wake = resolve;
        });
        await tell();
        if (known !== told) continue;
        const rest = new AbortController();
        await Promise.race([changed, pause(STREAM_HEARTBEAT_MS, AbortSignal.any([signal, rest.signal]))]);
        rest.abort();
      }
    },
  };
}
