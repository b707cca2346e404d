import { POST_KINDS, type PostKind } from '../../schemas/responses/posts.ts';
import type { RouteReply } from '../http/route.ts';
import type { AgentCall } from './authenticated.ts';
import { nameOf, oneOf, textOf } from './body.ts';
import type { AgentParts } from './deps.ts';
import { roomForPost } from './limits.ts';
import { Refusal } from './refusal.ts';
import { insertPost } from './store.ts';
import { inOneWrite, mustHoldNoToken } from './write.ts';

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
export async function post(parts: AgentParts, call: AgentCall): Promise<RouteReply> {
  const { mint, agent } = call.session;
  const written = readPost(call.context.body);
  await mustHoldNoToken(parts, [written.text, written.venue, written.ref]);
  const model = await parts.chain.model(call.policy);
  const stored = await inOneWrite(parts, call, async (tx, now) => {
    await roomForPost(tx, mint, now);
    return insertPost(tx, { mint, agent, model, ...written }, now);
  });
  return { status: 201, body: stored };
}
