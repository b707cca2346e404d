import { ConfigError, messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { backoffMs } from '../../runtime/retry.ts';
import { RpcError } from '../../runtime/rpc/error.ts';
import type { AccountRecord } from '../../schemas/records.ts';
import type { AccountReader } from './account-reader.ts';
import { createAnswerCheck, TRIES_ANSWERED } from './patient-read.ts';

/**
 * The list itself is at fault once TRIES_ANSWERED failures in a row span so long: a node that is just back, or a
 * backend that others take over from, fails for less long.
 */
const PATIENCE_MS = 30_000;
/** A list that takes this fraction of that time to fail, a sixth, is too long for a node. */
const LONG_PARTS = 6;

/** Why there is no list: it is refused, or not answered where other requests are; with the words of the error. */
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
 * Lists the accounts of a program, tried until it works or is seen not to; null where the signal aborted first. A list
 * that times out may come by prefixes: after each failure the other way is tried. The prefixes are asked for at several
 * slots, so the next call begins with the whole list again, unless that failed only after long and the prefixes worked.
 * After a list that was not answered a single failure is enough: no request is longer for a node, nor for those who
 * wait.
 */
export function createPatientList(
  reader: Pick<AccountReader, 'read' | 'readProgram' | 'readByPrefix'>,
  programId: string,
  { signal, logger, patienceMs = PATIENCE_MS }: PatientListOptions,
): (notBefore: bigint) => Promise<AccountRecord[] | Unlisted | null> {
  const answers = createAnswerCheck(reader.read);
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
        // Only where the node answers other requests: one that is away is slow to fail in all of them.
        if (wasWhole && isOfList) isLong = failedAt - asked >= patienceMs / LONG_PARTS;
        answered = isOfList ? answered + 1 : 0;
        const isSilent = answered >= TRIES_ANSWERED && failedAt - since >= patienceMs;
        if (isSilent || (isOfList && wasSilent)) {
          wasSilent = true;
          logger.error(reason, 'no node answers getProgramAccounts, though nodes answer other requests');
          return { why: 'silent', words };
        }
        await pause(backoffMs(attempt), signal);
      }
    }
    return null;
  };
}
