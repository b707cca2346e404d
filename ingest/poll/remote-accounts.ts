import { type RemoteAccount, remoteAccounts } from '../../clickhouse/queries/poll-targets.ts';
import { pause } from '../../runtime/lifecycle.ts';
import { inParallel } from '../../runtime/parallel.ts';
import { classBitOf, type EquityVenue, urlSetting } from '../../schemas/venues/remote.ts';
import type { Emit, PollOptions, Round } from './round.ts';
import { ACCOUNT_READERS } from './venues/adapters.ts';
import { type RemoteAccountReader, unreachable } from './venues/remote-account.ts';

const AT_ONCE = 4;
/** After so many failures in a row the venue counts as down for the rest of the round. */
const DOWN_AFTER = 3;

/** Reads every Remote account at a venue. */
export function remoteAccountsRound(venue: EquityVenue, { config, store, signal }: PollOptions): Round {
  const url = config[urlSetting(venue)];
  if (url === null) return async () => {};
  const reader = ACCOUNT_READERS[venue](url);
  return async (emit) => {
    const accounts = await remoteAccounts(store);
    const own = accounts.filter(({ assetClass }) => assetClass === classBitOf(venue));
    await readRemoteAccounts(venue, reader, own, emit, signal);
  };
}

/** One reading of each account, then one of the venue itself. */
export async function readRemoteAccounts(
  venue: EquityVenue,
  reader: RemoteAccountReader,
  accounts: readonly RemoteAccount[],
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  let answered = false;
  let inARow = 0;
  let error: string | null = null;
  await inParallel(accounts, AT_ONCE, async (account) => {
    if (signal.aborted) return;
    if (inARow >= DOWN_AFTER) {
      const why = `not asked, after ${DOWN_AFTER} failures: ${error}`;
      return emit([unreachable(venue, account, Date.now(), why)]);
    }
    const reading = await reader.read(account, signal);
    if (reading === null) return;
    await emit(reading.records);
    const { failure } = reading;
    if (failure === null) {
      answered = true;
      inARow = 0;
    } else {
      inARow += 1;
      error = failure.error;
      if (failure.retryAfterMs !== null) await pause(failure.retryAfterMs, signal);
    }
  });
  if (accounts.length === 0) return;
  const reading = { type: 'venue_status', venue, ok: answered, error: answered ? null : error } as const;
  await emit([{ kind: 'reading', readAt: Date.now(), reading }]);
}
