import type { Store } from '../../clickhouse/client.ts';
import type { Config } from '../../runtime/config/config.ts';
import { messageOf, RetryableError } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import type { LogRecord } from '../../schemas/records.ts';
import type { LogWriter } from '../log/port.ts';

export interface PollOptions {
  config: Config;
  store: Store;
  log: LogWriter;
  rpc: Rpc;
  logger: Logger;
  signal: AbortSignal;
  /** Called at each request to a source whose failures are no readings, with whether it was answered well. */
  onAnswer: (source: string, isGood: boolean) => void;
}

/** Appends to the log; drops what comes after the signal aborted, which says nothing of the outside world. */
export type Emit = (records: readonly LogRecord[]) => Promise<void>;

/**
 * One turn of a poller: readings go out as they come. An error that it throws is logged, and the next turn tries again.
 */
export type Round = (emit: Emit) => Promise<void>;

/** The first rounds come sooner, while policies are still being found. */
const WARM_UP_MS = 2_000;
const WARM_UP_ROUNDS = 5;

/** Runs a round, then waits, until the signal is given. */
export async function repeatRounds(
  name: string,
  intervalMs: number,
  { log, logger, signal }: Pick<PollOptions, 'log' | 'logger' | 'signal'>,
  round: Round,
): Promise<void> {
  const emit: Emit = async (records) => {
    if (records.length > 0 && !signal.aborted) await log.append(records);
  };
  for (let count = 0; !signal.aborted; count += 1) {
    try {
      await round(emit);
    } catch (error) {
      if (!signal.aborted) logger.warn({ poll: name, error: messageOf(error) }, 'a round of polling failed');
    }
    await pause(count < WARM_UP_ROUNDS ? Math.min(intervalMs, WARM_UP_MS) : intervalMs, signal);
  }
}

/** Counts the failures of a round, and pauses as long as a venue asks for. */
export interface Failures {
  note(failure: { error: string; retryAfterMs: number | null } | null, signal: AbortSignal): Promise<void>;
  /** @throws RetryableError that says how many of the round failed, where some did. */
  report(): void;
}

export function countFailures(what: string, onAnswer: PollOptions['onAnswer']): Failures {
  let asked = 0;
  let failed = 0;
  let last = '';
  return {
    note: async (failure, signal) => {
      asked += 1;
      onAnswer(what, failure === null);
      if (failure === null) return;
      failed += 1;
      last = failure.error;
      if (failure.retryAfterMs !== null) await pause(failure.retryAfterMs, signal);
    },
    report: () => {
      if (failed > 0) throw new RetryableError(`${failed} of ${asked} ${what} failed: ${last}`);
    },
  };
}
