import { type RemoteAccount, remoteAccounts } from '../../clickhouse/queries/states/poll-targets.ts';
import { inParallel } from '../../runtime/parallel.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { LogRecord } from '../../schemas/records.ts';
import { classBitOf, type EquityVenue, urlSetting } from '../../schemas/venues/remote.ts';
import { accountTurns } from './account-turns.ts';
import type { Emit, PollOptions, Round } from './round.ts';
import { ACCOUNT_READERS } from './venues/adapters.ts';
import { type RemoteAccountReader, unreachable } from './venues/remote-account.ts';

const AT_ONCE = 4;
/**
 * After so many failures in a row the venue counts as down for the rest of the round. An odd answer for one account is
 * no such failure: anybody may list an account that gets one.
 */
const DOWN_AFTER = 3;
const STATUS_EVERY_MS = 1_000;
/** Accounts that are not read by then wait for the next round, which orders all of them anew: `accountTurns`. */
const ROUND_MS = 30_000;

/**
 * A reading that never changes is told again after so long: a log's end may be lost, and retention cuts its beginning.
 */
const TOLD_FOR_MS = 86_400_000;

/**
 * Reads every Remote account at a venue. An account that can be no address there is told of once a day, without a
 * request.
 */
export function remoteAccountsRound(
  venue: EquityVenue,
  { config, store, signal }: Pick<PollOptions, 'config' | 'store' | 'signal'>,
  readerAt: (url: string) => RemoteAccountReader = ACCOUNT_READERS[venue],
): Round {
  const url = config[urlSetting(venue)];
  if (url === null) return async () => {};
  const reader = readerAt(url);
  const askedAt = new Map<string, number>();
  /** The remote accounts that were told to be no address there, and when, by venue account. */
  const told = new Map<string, { remoteAccount: string; at: number }>();
  const isTold = ({ address, remoteAccount }: RemoteAccount): boolean => {
    const last = told.get(address);
    return last?.remoteAccount === remoteAccount && performance.now() - last.at < TOLD_FOR_MS;
  };
  return async (emit) => {
    const accounts = await remoteAccounts(store);
    const own = accounts.filter((one) => one.assetClass === classBitOf(venue) && !isTold(one));
    const unaskable: RemoteAccount[] = [];
    const noting: RemoteAccountReader = {
      read: async (account, stop) => {
        askedAt.set(account.address, performance.now());
        const reading = await reader.read(account, stop);
        if (reading?.asked === false) unaskable.push(account);
        return reading;
      },
    };
    await readRemoteAccounts(venue, noting, accountTurns(own, askedAt), emit, signal);
    for (const { address, remoteAccount } of unaskable)
      told.set(address, { remoteAccount, at: performance.now() });
  };
}

/** One reading of each account, and of the venue itself whenever one of them succeeds. */
export async function readRemoteAccounts(
  venue: EquityVenue,
  reader: RemoteAccountReader,
  accounts: readonly RemoteAccount[],
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const endsAt = performance.now() + ROUND_MS;
  let statusAt = 0;
  let inARow = 0;
  let down: string | null = null;
  let error: string | null = null;
  // Anybody may list thousands of accounts that no venue can be asked for: their readings are appended in one go.
  const unasked: LogRecord[] = [];
  await inParallel(accounts, AT_ONCE, async (account) => {
    if (signal.aborted) return;
    // Not asked for: the reading has the error that the failed ones had, which is one of a few fixed sentences.
    if (inARow >= DOWN_AFTER && down !== null) return emit([unreachable(venue, account, Date.now(), down)]);
    if (performance.now() > endsAt) return;
    const reading = await reader.read(account, signal);
    if (reading === null) return;
    const { records, failure, asked } = reading;
    if (!asked) return void unasked.push(...records);
    await emit(records);
    if (failure === null) {
      inARow = 0;
      // The venue's status is told with the readings, so that it is as new as they are, however long a round takes.
      if (performance.now() - statusAt < STATUS_EVERY_MS && statusAt > 0) return;
      statusAt = performance.now();
      await emit([statusOf(venue, null)]);
    } else {
      error = failure.error;
      if (!failure.onlyThisAccount) {
        inARow += 1;
        down = error;
      }
      if (failure.retryAfterMs !== null) await pause(failure.retryAfterMs, signal);
    }
  });
  if (unasked.length > 0) await emit(unasked);
  if (error !== null && statusAt === 0) await emit([statusOf(venue, error)]);
}

function statusOf(venue: EquityVenue, error: string | null): LogRecord {
  const reading = { type: 'venue_status', venue, ok: error === null, error } as const;
  return { kind: 'reading', readAt: Date.now(), reading };
}
