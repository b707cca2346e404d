import type { Transaction } from '../postgres/port.ts';
import type { AgentParts } from './agent-parts.ts';
import type { LivePolicy } from './chain/chain.ts';
import { decided, policyOfSession } from './chain/reading.ts';
import { Refusal } from './refusal.ts';
import type { AgentCall } from './session/authenticated.ts';
import { holdsLiveToken, mustStillLive } from './session/sessions.ts';

/** About a slot: after a longer wait the chain is read again before the write. */
const FRESH_MS = 400;

/**
 * Runs one transaction while no other writes for this policy, in any process; where `work` throws, nothing is stored.
 * @param prepare reads what else is needed of the chain, for the policy as the deciding reading shows it.
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

/** @throws Refusal where a text that would become public holds a live token. */
export async function mustHoldNoToken({ db }: AgentParts, texts: readonly (string | null)[]): Promise<void> {
  if (await holdsLiveToken(db, texts))
    throw new Refusal('invalid_request', 'the text holds a session token: tokens must never be posted');
}
