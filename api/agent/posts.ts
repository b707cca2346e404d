import { POST_KINDS, type PostKind } from '../../schemas/responses/posts.ts';
import type { RouteReply } from '../route.ts';
import type { AgentCall } from './authenticated.ts';
import { nameOf, oneOf, textOf } from './body.ts';
import type { AgentParts } from './deps.ts';
import { roomForPost, takeTurn } from './limits.ts';
import { Refusal } from './refusal.ts';
import { holdsLiveToken, keepDecidedSlot, mustStillLive } from './sessions.ts';
import { insertPost } from './store.ts';

interface PostBody {
  kind: PostKind;
  text: string;
  venue: string | null;
  ref: string | null;
}

function readPost(body: unknown): PostBody {
  const kind = oneOf(body, 'kind', POST_KINDS);
  const text = textOf(body, 'text');
  const venue = nameOf(body, 'venue');
  const ref = nameOf(body, 'ref');
  if (kind === 'trade' && (venue === null || ref === null))
    throw new Refusal('invalid_request', 'a trade names the venue and, as ref, its order or fill id');
  if (kind !== 'trade' && (venue !== null || ref !== null))
    throw new Refusal('invalid_request', `only a trade has venue and ref, not ${kind}`);
  return { kind, text, venue, ref };
}

/** `POST /api/agent/posts`: stored with the model that the chain names for the policy now. */
export async function post(parts: AgentParts, { context, session, policy }: AgentCall): Promise<RouteReply> {
  const { db, chain } = parts;
  const { mint, agent } = session;
  const written = readPost(context.body);
  await mustHoldNoToken(parts, [written.text, written.venue, written.ref]);
  const model = await chain.model(policy);
  const stored = await db.transaction(async (tx) => {
    const now = await takeTurn(tx, mint);
    await mustStillLive(tx, session, now);
    await roomForPost(tx, mint, now);
    await keepDecidedSlot(tx, mint, policy.slot);
    return insertPost(tx, { mint, agent, model, ...written }, now);
  });
  return { status: 201, body: stored };
}

/** @throws Refusal where what would become public is a live token. */
export async function mustHoldNoToken({ db }: AgentParts, texts: readonly (string | null)[]): Promise<void> {
  if (await holdsLiveToken(db, texts))
    throw new Refusal('invalid_request', 'the text holds a session token: tokens must never be posted');
}
