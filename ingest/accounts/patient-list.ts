import { ConfigError, messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { backoffMs } from '../../runtime/retry.ts';
import { RpcError } from '../../runtime/rpc/error.ts';
import type { AccountRecord } from '../../schemas/records.ts';
import type { AccountReader } from './account-reader.ts';
import { answersBeside, TRIES_ANSWERED } from './patient-read.ts';

/**
 * It is the list where the first of so many failures in a row began so long before: a node that is just back, or a backend
 * that others take over from, is not it.
 */
const PATIENCE_MS = 30_000;
/** One that takes this part of it to fail is too long for a node. */
const LONG_PARTS = 6;

/** Why there is no list: it is refused, or not answered where other questions are; with the words of who failed. */
export interface Unlisted {
  why: 'refused' | 'silent';
  words: string;
}

export interface PatientListOptions {
  signal: AbortSignal;
  logger: Logger;
  patienceMs?: number;
}

/**
 * Lists the accounts of a program, tried until it works or is seen not to; null where the signal was given first. A list
 * that times out may come by prefixes: after each failure the other way is tried. They are asked at several slots, so the
 * whole one comes first again, but where it failed only after long and they worked. Where it was not answered last, a
 * single failure is enough: nothing is longer for a node, nor for who waits.
 */
export function createPatientList(
  reader: Pick<AccountReader, 'read' | 'readProgram' | 'readByPrefix'>,
  programId: string,
  { signal, logger, patienceMs = PATIENCE_MS }: PatientListOptions,
): (notBefore: bigint) => Promise<AccountRecord[] | Unlisted | null> {
  const answers = answersBeside(reader.read);
  let byPrefix = false;
  let isLong = false;
  let wasSilent = false;
  return async (notBefore) => {
    let answered = 0;
    let since = performance.now();
    if (!wasSilent) byPrefix = isLong;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const asked = performance.now();
      if (answered === 0) since = asked;
      try {
        const list = await (byPrefix ? reader.readByPrefix : reader.readProgram)(programId, notBefore);
        if (!byPrefix) isLong = false;
        wasSilent = false;
        return list;
      } catch (error) {
        if (error instanceof ConfigError) throw error;
        const kind = error instanceof RpcError ? error.kind : null;
        const words = messageOf(error);
        const reason = { attempt, byPrefix, error: words };
        const failedAt = performance.now();
        const wasWhole = !byPrefix;
        byPrefix = !byPrefix;
        if (kind === 'refused') {
          logger.error(reason, 'no node lists the accounts of the program');
          return { why: 'refused', words };
        }
        logger.warn(reason, 'the accounts of the program were not listed');
        const isOfList = kind === 'unreachable' && (await answers(notBefore));
        // A node that is away fails late in anything.
        if (wasWhole && isOfList) isLong = failedAt - asked >= patienceMs / LONG_PARTS;
        answered = isOfList ? answered + 1 : 0;
        const isSilent = answered >= TRIES_ANSWERED && failedAt - since >= patienceMs;
        if (isSilent || (isOfList && wasSilent)) {
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
