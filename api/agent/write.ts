import type { Transaction } from '../postgres/port.ts';
import type { AgentCall } from './authenticated.ts';
import type { AgentParts } from './deps.ts';
import { takeTurn } from './limits.ts';
import { Refusal } from './refusal.ts';
import { holdsLiveToken, keepDecidedSlot, mustStillLive } from './sessions.ts';

/**
 * One transaction that nobody else writes beside for this policy, in any process; what `work` throws leaves nothing.
 * @param work is given the database's time: limits are counted and rows are written with it.
 * @throws Refusal invalid_session where the session ended meanwhile
 */
export function inOneWrite<T>(
  { db, inTurn }: AgentParts,
  { session, policy }: AgentCall,
  work: (tx: Transaction, now: string) => Promise<T>,
): Promise<T> {
  const { mint } = session;
  return inTurn(`write ${mint}`, () =>
    db.transaction(async (tx) => {
      const now = await takeTurn(tx, mint);
      await mustStillLive(tx, session, now);
      const result = await work(tx, now);
      await keepDecidedSlot(tx, mint, policy.slot);
      return result;
    }),
  );
}

/** @throws Refusal where what would become public is a live token. */
export async function mustHoldNoToken({ db }: AgentParts, texts: readonly (string | null)[]): Promise<void> {
  if (await holdsLiveToken(db, texts))
    throw new Refusal('invalid_request', 'the text holds a session token: tokens must never be posted');
}
