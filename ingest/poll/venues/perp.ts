import type { RemoteAccount } from '../../../clickhouse/queries/poll-targets.ts';
import type { Bucket } from '../../../runtime/bucket.ts';
import type { LogRecord, Reading } from '../../../schemas/records.ts';
import { perpAddress, readClearinghouseState, valueIsEquity } from '../../../schemas/venues/perp.ts';
import { type PollFailure, poll } from './call.ts';

const STATE_WEIGHT = 2;
const MODE_WEIGHT = 20;
const MODE_VALID_MS = 3_600_000;

type AccountReading = Extract<Reading, { type: 'venue_account' }>;

/** One reading of an account, with the failure where the venue did not answer soundly. */
export interface PerpReading {
  records: LogRecord[];
  failure: Pick<PollFailure, 'error' | 'retryAfterMs'> | null;
}

export interface PerpReader {
  /** Asks the venue for one account; null where the signal was given meanwhile. */
  read(account: RemoteAccount, signal: AbortSignal): Promise<PerpReading | null>;
}

/** @param weight a token for each unit of weight that the venue counts. */
export function createPerpReader(base: string, weight: Bucket, clock: () => number = Date.now): PerpReader {
  const modes = new Map<string, { isEquity: boolean; at: number }>();
  const ask = async <T>(
    user: string,
    { tokenAccount }: RemoteAccount,
    question: { type: string; weight: number; read: (reply: unknown) => T },
    signal: AbortSignal,
  ) => {
    for (let unit = 0; unit < question.weight; unit += 1) await weight.take(signal);
    const body = { type: question.type, user };
    return poll(
      { url: `${base}/info`, what: 'reading:perp', where: tokenAccount, body, signal },
      question.read,
    );
  };

  return {
    read: async (account, signal) => {
      const user = perpAddress(account.remoteAccount);
      if (user === null) {
        const reason = 'the remote account is no address of the venue (20 bytes, right-aligned)';
        return { records: [accountReading(account, clock(), { reason })], failure: null };
      }
      let mode = modes.get(user);
      if (mode === undefined || clock() - mode.at > MODE_VALID_MS) {
        const question = { type: 'userAbstraction', weight: MODE_WEIGHT, read: valueIsEquity };
        const polled = await ask(user, account, question, signal);
        if (signal.aborted) return null;
        if ('error' in polled) return failed(account, clock(), polled);
        mode = { isEquity: polled.value, at: clock() };
        modes.set(user, mode);
      }
      const question = { type: 'clearinghouseState', weight: STATE_WEIGHT, read: readClearinghouseState };
      const polled = await ask(user, account, question, signal);
      if (signal.aborted) return null;
      if ('error' in polled) return failed(account, clock(), polled);
      const { equity, notional, time } = polled.value;
      const numbers = mode.isEquity
        ? {
            equity: equity.toString(),
            notional: notional.toString(),
            reason: time === null ? 'the venue gave no time' : null,
          }
        : { reason: 'the account is unified at the venue: its account value understates equity' };
      return { records: [accountReading(account, clock(), { ...numbers, venueTime: time })], failure: null };
    },
  };
}

/** The reading of an account that the venue did not answer for. */
export function unreachable(account: RemoteAccount, readAt: number, error: string): LogRecord {
  return accountReading(account, readAt, { reachable: false, error });
}

function failed(
  account: RemoteAccount,
  readAt: number,
  { error, letter, retryAfterMs }: PollFailure,
): PerpReading {
  const reading = unreachable(account, readAt, error);
  return { records: letter === null ? [reading] : [reading, letter], failure: { error, retryAfterMs } };
}

function accountReading(
  { tokenAccount }: RemoteAccount,
  readAt: number,
  more: Partial<AccountReading>,
): LogRecord {
  return {
    kind: 'reading',
    readAt,
    reading: {
      type: 'venue_account',
      tokenAccount,
      venue: 'perp',
      equity: null,
      notional: null,
      reason: null,
      reachable: true,
      error: null,
      venueTime: null,
      ...more,
    },
  };
}
