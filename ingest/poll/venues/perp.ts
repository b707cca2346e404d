import { createHash } from 'node:crypto';
import type { RemoteAccount } from '../../../clickhouse/queries/states/poll-targets.ts';
import { type Bucket, createBucket } from '../../../runtime/outside/bucket.ts';
import { perpAddress, readClearinghouseState, valueIsEquity } from '../../../schemas/venues/perp.ts';
import {
  accountReading,
  askAccount,
  invalidAddressReading,
  type RemoteAccountReader,
} from './remote-account.ts';

/** The venue allows 1200 weight a minute for each address: 200 at once and 15 a second stay below it. */
export const WEIGHT_PER_SECOND = 15;
export const WEIGHT_BURST = 200;
const STATE_WEIGHT = 2;
const MODE_WEIGHT = 20;
const MODE_VALID_MS = 3_600_000;

/**
 * How long an account's mode is valid: at least half of MODE_VALID_MS, for one account always the same. After a start
 * all modes are asked for together: if they ended together too, the readings of many accounts would grow old once an
 * hour, behind the requests for modes.
 */
function modeValidMs(user: string): number {
  const share = createHash('sha256').update(user).digest().readUInt32BE() / 2 ** 32;
  return MODE_VALID_MS * (1 - share / 2);
}

/** @param weight a token for each unit of weight that the venue counts. */
export function createPerpReader(
  base: string,
  weight: Bucket = createBucket(WEIGHT_PER_SECOND, WEIGHT_BURST),
  clock: () => number = Date.now,
): RemoteAccountReader {
  const modes = new Map<string, { isEquity: boolean; until: number }>();
  const ask = async <T>(
    user: string,
    account: RemoteAccount,
    question: { type: string; weight: number; read: (reply: unknown) => T },
    signal: AbortSignal,
  ) => {
    for (let unit = 0; unit < question.weight; unit += 1) await weight.take(signal);
    const body = { type: question.type, user };
    return askAccount('perp', account, { url: `${base}/info`, body, signal }, question.read, clock);
  };

  return {
    read: async (account, signal) => {
      const user = perpAddress(account.remoteAccount);
      if (user === null) return invalidAddressReading('perp', account, clock(), '20 bytes, right-aligned');
      let mode = modes.get(user);
      if (mode === undefined || clock() > mode.until) {
        const question = { type: 'userAbstraction', weight: MODE_WEIGHT, read: valueIsEquity };
        const answer = await ask(user, account, question, signal);
        if ('ended' in answer) return answer.ended;
        mode = { isEquity: answer.value, until: clock() + modeValidMs(user) };
        modes.set(user, mode);
      }
      const question = { type: 'clearinghouseState', weight: STATE_WEIGHT, read: readClearinghouseState };
      const answer = await ask(user, account, question, signal);
      if ('ended' in answer) return answer.ended;
      const { equity, notional, time } = answer.value;
      const numbers = mode.isEquity
        ? {
            equity: equity.toString(),
            notional: notional.toString(),
            reason: time === null ? 'the venue gave no time' : null,
          }
        : { reason: 'the account is unified at the venue: its account value understates equity' };
      return {
        records: [accountReading('perp', account, clock(), { ...numbers, venueTime: time })],
        failure: null,
        asked: true,
      };
    },
  };
}
