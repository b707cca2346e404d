import { type RemoteAccount, remoteAccounts } from '../../clickhouse/queries/poll-targets.ts';
import { createBucket } from '../../runtime/bucket.ts';
import { pause } from '../../runtime/lifecycle.ts';
import { inParallel } from '../../runtime/parallel.ts';
import type { Emit, PollOptions, Round } from './round.ts';
import { createPerpReader, type PerpReader, unreachable } from './venues/perp.ts';

/** A venue account of class PERP is at the perpetuals venue. */
const PERP = 16;
/** The venue allows 1200 weight a minute for each address: 200 at once and 15 a second stay below it. */
const WEIGHT_PER_SECOND = 15;
const WEIGHT_BURST = 200;
const AT_ONCE = 4;
/** After so many failures in a row the venue counts as down for the rest of the round. */
const GIVE_UP_AFTER = 3;

/** Reads every Remote account at the perpetuals venue. */
export function perpAccountsRound({ config, store, signal }: PollOptions): Round {
  const { perpVenueUrl } = config;
  if (perpVenueUrl === null) return async () => {};
  const reader = createPerpReader(perpVenueUrl, createBucket(WEIGHT_PER_SECOND, WEIGHT_BURST));
  return async (emit) => {
    const accounts = await remoteAccounts(store);
    await readPerpAccounts(
      reader,
      accounts.filter(({ assetClass }) => assetClass === PERP),
      emit,
      signal,
    );
  };
}

/** One reading of each account, then one of the venue itself. */
export async function readPerpAccounts(
  reader: PerpReader,
  accounts: readonly RemoteAccount[],
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  let answered = false;
  let inARow = 0;
  let error: string | null = null;
  await inParallel(accounts, AT_ONCE, async (account) => {
    if (signal.aborted) return;
    if (inARow >= GIVE_UP_AFTER) {
      return emit([unreachable(account, Date.now(), `not asked, after ${GIVE_UP_AFTER} failures: ${error}`)]);
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
  const reading = {
    type: 'venue_status',
    venue: 'perp',
    ok: answered,
    error: answered ? null : error,
  } as const;
  await emit([{ kind: 'reading', readAt: Date.now(), reading }]);
}
