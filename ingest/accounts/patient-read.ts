import { ConfigError, messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { backoffMs } from '../../runtime/retry.ts';
import type { AccountRecord } from '../../schemas/records.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { SYSTEM_PROGRAM } from '../../schemas/solana/system-program.ts';

/** Reads some accounts at that slot or later. */
export type ReadAccounts = (addresses: readonly string[], notBefore: bigint) => Promise<AccountRecord[]>;

const TRIES_TOGETHER = 3;
/**
 * Failures of one account in a row, the node answering another request after each, until the account is at fault: the
 * node may just be back.
 */
export const TRIES_ANSWERED = 3;

/**
 * Whether a node that failed in something else can read the System program, which always exists: if it cannot, its
 * failures say nothing of what was asked for.
 */
export const createAnswerCheck =
  (read: ReadAccounts) =>
  async (notBefore: bigint): Promise<boolean> => {
    try {
      await read([SYSTEM_PROGRAM], notBefore);
      return true;
    } catch {
      return false;
    }
  };

/**
 * A read that is tried until it works; null where the signal aborted first. Where the node answers and these addresses
 * alone cannot be read, they are read in halves, and one that cannot be read by itself is left out: none of them keeps
 * the others from being read. What is stored of that one may be old by then: see `addressesWithoutRecord`.
 */
export function createPatientRead(
  read: ReadAccounts,
  { signal, logger }: { signal: AbortSignal; logger: Logger },
): (addresses: readonly string[], notBefore: bigint) => Promise<AccountRecord[] | null> {
  const answers = createAnswerCheck(read);
  const apart = async (
    addresses: readonly string[],
    notBefore: bigint,
    tries: number,
  ): Promise<AccountRecord[] | null> => {
    let answered = 0;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        return await read(addresses, notBefore);
      } catch (error) {
        if (error instanceof ConfigError) throw error;
        const reason = messageOf(error);
        logger.warn({ accounts: addresses.length, attempt, error: reason }, 'accounts were not read');
        answered = attempt + 1 >= tries && (await answers(notBefore)) ? answered + 1 : 0;
        if (answered > 0 && addresses.length > 1) return halves(addresses, notBefore);
        if (answered === TRIES_ANSWERED) {
          logger.error(
            { address: addresses[0], error: reason },
            'an account cannot be read, and is left out',
          );
          return [];
        }
        await pause(backoffMs(attempt), signal);
      }
    }
    return null;
  };
  const halves = async (addresses: readonly string[], notBefore: bigint) => {
    const middle = Math.ceil(addresses.length / 2);
    const first = await apart(addresses.slice(0, middle), notBefore, 1);
    const second = await apart(addresses.slice(middle), notBefore, 1);
    return first === null || second === null ? null : [...first, ...second];
  };
  return (addresses, notBefore) => apart(addresses, notBefore, TRIES_TOGETHER);
}

/**
 * The addresses that were left out of a reading: those without a record, for an address without an account has one,
 * too.
 */
export function addressesWithoutRecord(
  addresses: readonly string[],
  records: readonly AccountRecord[],
): string[] {
  const read = new Set(records.map(({ address }) => encodeBase58(address)));
  return addresses.filter((address) => !read.has(address));
}
