import type { RemoteAccount } from '../../clickhouse/queries/poll-targets.ts';
import { createBucket } from '../../runtime/bucket.ts';
import type { LogRecord, Reading } from '../../schemas/records.ts';
import { perpAddress, readClearinghouseState, valueIsEquity } from '../../schemas/venues/hyperliquid.ts';
import { poll } from './call.ts';

/** The venue allows 1200 weight a minute per address; a state weighs 2, a mode about 20. */
const WEIGHT_PER_SECOND = 15;
const WEIGHT_BURST = 200;
const STATE_WEIGHT = 2;
const MODE_WEIGHT = 20;
const MODE_VALID_MS = 3_600_000;

export interface PerpPoller {
  /** One reading of each account, as records of the log. */
  read(accounts: readonly RemoteAccount[], signal: AbortSignal): Promise<LogRecord[]>;
}

export function createPerpPoller(base: string, clock: () => number = Date.now): PerpPoller {
  const weight = createBucket(WEIGHT_PER_SECOND, WEIGHT_BURST, clock);
  const modes = new Map<string, { isEquity: boolean; at: number }>();
  const spend = async (units: number, signal: AbortSignal) => {
    for (let unit = 0; unit < units; unit += 1) await weight.take(signal);
  };

  const readOne = async (account: RemoteAccount, signal: AbortSignal): Promise<LogRecord[]> => {
    const { tokenAccount } = account;
    const user = perpAddress(account.remoteAccount);
    const reading = (more: Partial<Extract<Reading, { type: 'venue_account' }>>): LogRecord => ({
      kind: 'reading',
      readAt: clock(),
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
    });
    if (user === null)
      return [reading({ reason: 'the remote account is no address of the venue (20 bytes, right-aligned)' })];
    const call = { url: `${base}/info`, what: 'reading:perp', where: tokenAccount, signal };
    let mode = modes.get(user);
    if (mode === undefined || clock() - mode.at > MODE_VALID_MS) {
      await spend(MODE_WEIGHT, signal);
      const polled = await poll({ ...call, body: { type: 'userAbstraction', user } }, valueIsEquity);
      if ('error' in polled) return failed(reading, polled);
      mode = { isEquity: polled.value, at: clock() };
      modes.set(user, mode);
    }
    await spend(STATE_WEIGHT, signal);
    const polled = await poll(
      { ...call, body: { type: 'clearinghouseState', user } },
      readClearinghouseState,
    );
    if ('error' in polled) return failed(reading, polled);
    const { equity, notional, time } = polled.value;
    if (!mode.isEquity) {
      return [
        reading({
          venueTime: time,
          reason: 'the account is unified at the venue: its account value understates equity',
        }),
      ];
    }
    return [
      reading({
        equity: equity.toString(),
        notional: notional.toString(),
        venueTime: time,
        reason: time === null ? 'the venue gave no time' : null,
      }),
    ];
  };

  return {
    read: async (accounts, signal) => {
      const records: LogRecord[] = [];
      let answered = false;
      let error: string | null = null;
      for (const account of accounts) {
        if (signal.aborted) break;
        const some = await readOne(account, signal);
        for (const record of some) {
          if (record.kind !== 'reading' || record.reading.type !== 'venue_account') continue;
          if (record.reading.reachable) answered = true;
          else error = record.reading.error;
        }
        records.push(...some);
      }
      if (accounts.length > 0) {
        const reading: Reading = { type: 'venue_status', venue: 'perp', ok: answered, error };
        records.push({ kind: 'reading', readAt: clock(), reading });
      }
      return records;
    },
  };
}

function failed(
  reading: (more: Partial<Extract<Reading, { type: 'venue_account' }>>) => LogRecord,
  polled: { error: string; letter: LogRecord | null },
): LogRecord[] {
  return [
    reading({ reachable: false, error: polled.error }),
    ...(polled.letter === null ? [] : [polled.letter]),
  ];
}
