import type { RouteContext, RouteReply } from '../../http/route.ts';
import type { AgentParts } from '../agent-parts.ts';
import { type LivePolicy, notTheAgent } from '../chain/chain.ts';
import { policyOfSession } from '../chain/reading.ts';
import { FAILED, failedOf, REFUSED, refusedOf } from '../limits/limits.ts';
import { Refusal, rateLimited, replyOf } from '../refusal.ts';
import { endRotatedOut, type LiveSession, sessionOf } from './sessions.ts';

/** A request whose session is live and whose key is the agent's, by the chain as it is now. */
export interface AgentCall {
  context: RouteContext;
  session: LiveSession;
  policy: LivePolicy;
  /** When the policy was read; milliseconds that only go forward. */
  readAt: number;
}

type Handler = (context: RouteContext) => Promise<RouteReply>;

/**
 * Statuses that count as refused attempts of a policy; what a key does that is no longer the agent's does not count.
 */
const COUNTED = new Set([400, 403, 404, 409, 422, 429]);

const MOST_REFUSED = `${REFUSED} refused attempts a minute are the most for a policy`;

function counts(error: unknown): boolean {
  return error instanceof Refusal && COUNTED.has(error.status) && error.code !== 'not_the_agent';
}

/** A route for a key without a session: a request that does not authenticate counts against the client's address. */
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
    if (session.rotatedOut) {
      await endRotatedOut(parts.db, session);
      throw notTheAgent(session.mint, session.agent);
    }
    if (session.wait !== null) throw rateLimited(MOST_REFUSED, session.wait);
    // A refusal by the budget costs no chain read and is not counted: an agent that polls too fast can still post.
    return parts.budget(session.mint, async () => {
      try {
        const policy = await policyOfSession(parts, session, session.knownSlot);
        return await handle(parts, { context, session, policy, readAt: performance.now() });
      } catch (error) {
        // Of many concurrent requests each passed the check of `session.wait` before any of them was counted.
        if (counts(error)) await parts.countAttempt(refusedOf(session.mint), REFUSED, MOST_REFUSED);
        throw error;
      }
    });
  });
}

async function authenticate(parts: AgentParts, context: RouteContext): Promise<LiveSession> {
  await parts.admit(context.clientAddress);
  try {
    return await sessionOf(parts.db, context.headers.authorization);
  } catch (error) {
    if (error instanceof Refusal) await countFailure(parts, context);
    throw error;
  }
}

function countFailure(parts: AgentParts, context: RouteContext): Promise<void> {
  return parts.countAttempt(
    failedOf(context.clientAddress),
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
