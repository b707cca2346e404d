import type { Transaction } from '../../postgres/port.ts';
import type { AgentParts } from '../agent-parts.ts';
import { takeTurn } from '../limits/limits.ts';
import { endRotatedOut, endStartedBefore, type Key, type LiveSession } from '../session/sessions.ts';
import { type Asker, isAgent, type LivePolicy, notTheAgent, unreachable } from './chain.ts';
import { confirmsKnownAgent, OlderReadingError, recordDecidingReading } from './decided.ts';

const MOST_READINGS = 3;

/**
 * The policy as the chain has it now. Where the key is no longer its agent, this reading ends the sessions of that key,
 * even if the key should come back: the next use of one is refused as not_the_agent, then all of them are unknown.
 * @param least slot of the newest reading that is known.
 * @param isUse whether the request uses a session: asking for a challenge, or signing one, does not.
 * @throws Refusal not_the_agent, unknown_policy, chain_unreachable, busy
 */
export function policyOfAgent(
  parts: AgentParts,
  { mint, agent }: Key,
  least: bigint,
  asker: Asker,
  isUse = false,
): Promise<LivePolicy> {
  return byNewest(least, async (slot) => {
    const policy = await parts.chain.policy(mint, slot, asker);
    const trusted = isAgent(policy, agent);
    // A session's reading that shows its own key decides in the write that follows. One that shows another key to a
    // session in use always decides. Of the others, one that shows the known agent must not decide: a flood of them
    // would make each write read the chain again.
    const mayDecide = !trusted || asker === 'stranger';
    if (mayDecide && (isUse || !(await confirmsKnownAgent(parts.db, policy))))
      await parts.db.transaction(async (tx) => {
        await takeTurn(tx, mint);
        await recordDecidingReading(tx, policy);
        if (!trusted && isUse) await endRotatedOut(tx, { mint, agent });
      });
    if (!trusted) throw notTheAgent(mint, agent);
    return policy;
  });
}

/**
 * As policyOfAgent, for a session. It also ends where its key was rotated out and back since the session started: a
 * current reading of the chain does not show that, but the index does once it has come that far.
 * @throws Refusal not_the_agent, unknown_policy, chain_unreachable, busy
 */
export async function policyOfSession(
  parts: AgentParts,
  session: LiveSession,
  least: bigint,
): Promise<LivePolicy> {
  const [policy, changedAt] = await Promise.all([
    policyOfAgent(parts, session, least, 'session', true),
    parts.chain.agentChanged(session.mint, session.slot),
  ]);
  if (changedAt === null) return policy;
  const { mint, agent } = session;
  await parts.db.transaction(async (tx) => {
    await takeTurn(tx, mint);
    await endStartedBefore(tx, session, changedAt);
  });
  throw notTheAgent(mint, agent);
}

/**
 * Runs one transaction whose writes rely on a reading of the chain; no other transaction writes for this policy
 * meanwhile, in any process. Where a newer reading has decided in the meantime, the chain is read again.
 * @param read reads the chain as of the slot `least` or later.
 */
export function decided<Reading extends { policy: LivePolicy }, T>(
  parts: AgentParts,
  least: bigint,
  read: (least: bigint) => Promise<Reading>,
  work: (tx: Transaction, now: string, reading: Reading) => Promise<T>,
): Promise<T> {
  return byNewest(least, async (slot) => {
    const reading = await read(slot);
    const { mint } = reading.policy;
    return parts.inTurn(`write ${mint}`, () =>
      parts.db.transaction(async (tx) => {
        const now = await takeTurn(tx, mint);
        await recordDecidingReading(tx, reading.policy);
        return work(tx, now, reading);
      }),
    );
  });
}

async function byNewest<T>(least: bigint, decide: (least: bigint) => Promise<T>): Promise<T> {
  let slot = least;
  for (let readings = 1; ; readings += 1) {
    try {
      return await decide(slot);
    } catch (error) {
      if (!(error instanceof OlderReadingError)) throw error;
      if (readings === MOST_READINGS)
        throw unreachable('every node answers with an older slot than was already seen', error);
      slot = error.slot;
    }
  }
}
