import type { RemoteAccount } from '../../../clickhouse/queries/states/poll-targets.ts';
import type { Reading } from '../../../schemas/readings.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import type { EquityVenue } from '../../../schemas/venues/remote.ts';
import { type PollFailure, poll, type VenueCall } from './call.ts';

/** Asks a venue for what an account of it holds. */
export interface RemoteAccountReader {
  /** Null where the signal was given meanwhile. */
  read(account: RemoteAccount, signal: AbortSignal): Promise<RemoteAccountReading | null>;
}

/** What was read of one account, with the failure where the venue did not answer soundly. */
export interface RemoteAccountReading {
  records: LogRecord[];
  failure: AccountFailure | null;
  /** False where there was nothing to ask for: that says nothing of the venue. */
  asked: boolean;
}

export interface AccountFailure extends Pick<PollFailure, 'error' | 'retryAfterMs'> {
  /** The venue answered: others of its accounts may be read all the same. */
  onlyThisAccount: boolean;
}

type AccountReading = Extract<Reading, { type: 'venue_account' }>;

export function accountReading(
  venue: EquityVenue,
  { address }: RemoteAccount,
  readAt: number,
  more: Partial<AccountReading>,
): LogRecord {
  return {
    kind: 'reading',
    readAt,
    reading: {
      type: 'venue_account',
      venueAccount: address,
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

/** The reading of an account that cannot exist at its venue. @param form what an address there looks like */
export function invalidAddressReading(
  venue: EquityVenue,
  account: RemoteAccount,
  readAt: number,
  form: string,
): RemoteAccountReading {
  const reason = `the remote account is no address of the venue (${form})`;
  return {
    records: [accountReading(venue, account, readAt, { reason, reachable: false })],
    failure: null,
    asked: false,
  };
}

/**
 * What a venue said of an account; `ended` where it said nothing sound, null there where the signal aborted meanwhile.
 */
export type AccountAnswer<T> = { value: T } | { ended: RemoteAccountReading | null };

/** Asks a venue about an account. @param now unix milliseconds, called when it has answered */
export async function askAccount<T>(
  venue: EquityVenue,
  account: RemoteAccount,
  request: Omit<VenueCall, 'what' | 'where'>,
  read: (reply: unknown) => T,
  now: () => number,
): Promise<AccountAnswer<T>> {
  const polled = await poll({ ...request, what: accountLetter(venue), where: account.address }, read);
  if (request.signal.aborted) return { ended: null };
  return 'error' in polled ? { ended: failedReading(venue, account, now(), polled) } : polled;
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

function failedReading(
  venue: EquityVenue,
  account: RemoteAccount,
  readAt: number,
  { error, letter, retryAfterMs, status }: PollFailure,
): RemoteAccountReading {
  const reading = unreachable(venue, account, readAt, error);
  return {
    records: letter === null ? [reading] : [reading, letter],
    failure: { error, retryAfterMs, onlyThisAccount: status !== null && status !== 429 && status < 500 },
    asked: true,
  };
}

/** `what` of a dead letter for an account's reply: a later good reading of the account outdates it by that name. */
const accountLetter = (venue: EquityVenue): string => `reading:${venue}`;
