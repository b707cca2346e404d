import { ConfigError, messageOf } from '../../../runtime/errors.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import { backoffMs } from '../../../runtime/retry.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import type { AccountReader } from './account-reader.ts';
import { answersBeside } from './patient-read.ts';

/** Failures in a row, the node answering behind each, until it is the list: a node may just be back. */
const TRIES_ANSWERED = 3;

/** Why there is no list: it is refused, or not answered where other questions are; with the words of who failed. */
export interface Unlisted {
  why: 'refused' | 'silent';
  words: string;
}

/**
 * Lists the accounts of a program, tried until it works or is seen not to; null where the signal was given first. A list
 * that times out may come by prefixes: after each failure the other way is tried, and the one that works is kept. Where
 * it was not answered last, a single failure is enough: nothing is longer for a node, nor for who waits.
 */
export function createPatientList(
  reader: Pick<AccountReader, 'read' | 'readProgram' | 'readByPrefix'>,
  programId: string,
  { signal, logger }: { signal: AbortSignal; logger: Logger },
): (notBefore: bigint) => Promise<AccountRecord[] | Unlisted | null> {
  const answers = answersBeside(reader.read);
  let byPrefix = false;
  let wasSilent = false;
  return async (notBefore) => {
    let answered = wasSilent ? TRIES_ANSWERED - 1 : 0;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const list = await (byPrefix ? reader.readByPrefix : reader.readProgram)(programId, notBefore);
        wasSilent = false;
        return list;
      } catch (error) {
        if (error instanceof ConfigError) throw error;
        const kind = error instanceof RpcError ? error.kind : null;
        const words = messageOf(error);
        const reason = { attempt, byPrefix, error: words };
        byPrefix = !byPrefix;
        if (kind === 'refused') {
          logger.error(reason, 'no node lists the accounts of the program');
          return { why: 'refused', words };
        }
        logger.warn(reason, 'the accounts of the program were not listed');
        answered = kind === 'unreachable' && (await answers(notBefore)) ? answered + 1 : 0;
        if (answered === TRIES_ANSWERED) {
          wasSilent = true;
          logger.error(reason, 'no node answers with the accounts of the program, though with others');
          return { why: 'silent', words };
        }
        await pause(backoffMs(attempt), signal);
      }
    }
    return null;
  };
}
