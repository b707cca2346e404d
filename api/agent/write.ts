import type { Transaction } from '../postgres/port.ts';
import type { AgentParts } from './agent-parts.ts';
import type { LivePolicy } from './chain/chain.ts';
import { decided, policyOfSession } from './chain/reading.ts';
import { Refusal } from './refusal.ts';
import type { AgentCall } from './session/authenticated.ts';
import { holdsLiveToken, mustStillLive } from './session/sessions.ts';

/** About a slot: what was waited for longer than this is written by a reading from after the wait. */
const FRESH_MS = 400;

/**
 * One transaction that nobody else writes beside for this policy, in any process; what `work` throws leaves nothing.
 * @param prepare what else must be read of the chain, by the reading that decides.
 * @param work is given the database's time: limits are counted and rows are written with it.
 * @throws Refusal invalid_session where the session ended meanwhile, not_the_agent where it is rotated out
 */
export function inOneWrite<Prepared, T>(
  parts: AgentParts,
  { session, policy, readAt }: AgentCall,
  prepare: (policy: LivePolicy) => Promise<Prepared>,
  work: (tx: Transaction, now: string, prepared: Prepared) => Promise<T>,
): Promise<T> {
  const read = async (least: bigint) => {
    const fresh = policy.slot >= least && performance.now() - readAt < FRESH_MS;
    const now = fresh ? policy : await policyOfSession(parts, session, least);
    return { policy: now, prepared: await prepare(now) };
  };
  return decided(parts, session.knownSlot, read, async (tx, now, { prepared }) => {
    await mustStillLive(tx, session, now);
    return work(tx, now, prepared);
  });
}

/** @throws Refusal where what would become public is a live token. */
export async function mustHoldNoToken({ db }: AgentParts, texts: readonly (string | null)[]): Promise<void> {
  if (await holdsLiveToken(db, texts))
    throw new Refusal('invalid_request', 'the text holds a session token: tokens must never be posted');
}
