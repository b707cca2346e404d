import type { RemoteAccount } from '../../../clickhouse/queries/states/poll-targets.ts';
import type { Reading } from '../../../schemas/readings.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import type { EquityVenue } from '../../../schemas/venues/remote.ts';
import type { PollFailure } from './call.ts';

/** Asks a venue for what an account of it holds. */
export interface RemoteAccountReader {
  /** Null where the signal was given meanwhile. */
  read(account: RemoteAccount, signal: AbortSignal): Promise<RemoteAccountReading | null>;
}

/** What was read of one account, with the failure where the venue did not answer soundly. */
export interface RemoteAccountReading {
  records: LogRecord[];
  failure: Pick<PollFailure, 'error' | 'retryAfterMs'> | null;
  /** False where there was nothing to ask for: that says nothing of the venue. */
  asked: boolean;
}

type AccountReading = Extract<Reading, { type: 'venue_account' }>;

export function accountReading(
  venue: EquityVenue,
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
      venue,
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

/** The reading of an account that the venue did not answer for. */
export function unreachable(
  venue: EquityVenue,
  account: RemoteAccount,
  readAt: number,
  error: string,
): LogRecord {
  return accountReading(venue, account, readAt, { reachable: false, error });
}

export function failedReading(
  venue: EquityVenue,
  account: RemoteAccount,
  readAt: number,
  { error, letter, retryAfterMs }: PollFailure,
): RemoteAccountReading {
  const reading = unreachable(venue, account, readAt, error);
  return {
    records: letter === null ? [reading] : [reading, letter],
    failure: { error, retryAfterMs },
    asked: true,
  };
}

/** What a dead letter of an account's reply is called: what a later good reading of the account outdates. */
export const accountLetter = (venue: EquityVenue): string => `reading:${venue}`;
