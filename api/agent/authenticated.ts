import type { RouteContext, RouteReply } from '../http/route.ts';
import { type LivePolicy, mustBeAgent } from './chain.ts';
import type { AgentParts } from './deps.ts';
import { FAILED, noteRefused, REFUSED } from './limits.ts';
import { Refusal, rateLimited, replyOf } from './refusal.ts';
import { endSession, keepDecidedSlot, type LiveSession, sessionOf } from './sessions.ts';

/** A request whose session is live and whose key is the agent's, by the chain as it is now. */
export interface AgentCall {
  context: RouteContext;
  session: LiveSession;
  policy: LivePolicy;
}

type Handler = (context: RouteContext) => Promise<RouteReply>;

/** Statuses that count as refused attempts of a policy. */
const COUNTED = new Set([400, 403, 404, 409, 422]);

/** A route for a key that has no session yet: what does not authenticate counts against the client's address. */
export function open(
  parts: AgentParts,
  handle: (parts: AgentParts, context: RouteContext) => Promise<RouteReply>,
): Handler {
  return refusalsAsReplies(async (context) => {
    try {
      return await handle(parts, context);
    } catch (error) {
      if (error instanceof Refusal && (error.status === 401 || error.status === 403))
        await countFailure(parts, context);
      throw error;
    }
  });
}

/** A route for live sessions: session, then chain, then what `handle` checks; the first that fails names the refusal. */
export function authenticated(
  parts: AgentParts,
  handle: (parts: AgentParts, call: AgentCall) => Promise<RouteReply>,
): Handler {
  return refusalsAsReplies(async (context) => {
    const session = await authenticate(parts, context);
    if (session.wait !== null)
      throw rateLimited(`${REFUSED} refused attempts a minute are the most for a policy`, session.wait);
    try {
      const policy = await parts.chain.policy(session.mint, session.decidedSlot);
      await mustNotBeRotated(parts, session, policy);
      return await handle(parts, { context, session, policy });
    } catch (error) {
      if (error instanceof Refusal && COUNTED.has(error.status)) await noteRefused(parts.db, session.mint);
      throw error;
    }
  });
}

async function authenticate(parts: AgentParts, context: RouteContext): Promise<LiveSession> {
  try {
    return await sessionOf(parts.db, context.headers.authorization);
  } catch (error) {
    if (error instanceof Refusal) await countFailure(parts, context);
    throw error;
  }
}

/** The first use after a rotation ends the session, also if the old key should come back. */
async function mustNotBeRotated(parts: AgentParts, session: LiveSession, policy: LivePolicy): Promise<void> {
  try {
    mustBeAgent(policy, session.agent);
  } catch (error) {
    await parts.db.transaction(async (tx) => {
      await endSession(tx, session);
      await keepDecidedSlot(tx, session.mint, policy.slot);
    });
    throw error;
  }
}

function countFailure(parts: AgentParts, context: RouteContext): Promise<void> {
  return parts.countAttempt(
    `failed:${context.clientAddress}`,
    FAILED,
    `${FAILED} attempts a minute that do not authenticate are the most for an address`,
  );
}

function refusalsAsReplies(handle: Handler): Handler {
  return async (context) => {
    try {
      return await handle(context);
    } catch (error) {
      if (error instanceof Refusal) return replyOf(error);
      throw error;
    }
  };
}
