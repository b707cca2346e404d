import { POST_KINDS, type PostKind } from '../../../schemas/responses/coin/posts.ts';
import type { RouteReply } from '../../http/route.ts';
import type { AgentParts } from '../agent-parts.ts';
import { nameOf, oneOf, textOf } from '../body.ts';
import { databaseTime, roomForPost } from '../limits/limits.ts';
import { Refusal } from '../refusal.ts';
import type { AgentCall } from '../session/authenticated.ts';
import { inOneWrite, mustHoldNoToken } from '../write.ts';
import { insertPost } from './store.ts';

interface PostBody {
  kind: PostKind;
  text: string;
  venue: string | null;
  ref: string | null;
}

/** A name as a person reads it: without invisible characters, combining marks and case, wide letters as plain. */
const asRead = (name: string) =>
  name
    .normalize('NFKC')
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Mn}\s]/gu, '')
    .toLowerCase();

/** An option exposure has no order id: it is never a trade. */
function readPost(body: unknown, optionsVenueId: string): PostBody {
  const kind = oneOf(body, 'kind', POST_KINDS);
  const text = textOf(body, 'text');
  const venue = nameOf(body, 'venue');
  const ref = nameOf(body, 'ref');
  if (kind === 'trade' && (venue === null || ref === null))
    throw new Refusal('invalid_request', 'a trade names the venue and, as ref, its order or fill id');
  if (kind !== 'trade' && (venue !== null || ref !== null))
    throw new Refusal('invalid_request', `only a trade has venue and ref, not ${kind}`);
  if (venue !== null && asRead(venue) === asRead(optionsVenueId))
    throw new Refusal(
      'invalid_request',
      `a trade is never at ${optionsVenueId}: its exposures have routes of their own`,
    );
  return { kind, text, venue, ref };
}

/** `POST /api/agent/posts`: stored with the model that the chain names for the policy now. */
export async function post(parts: AgentParts, call: AgentCall): Promise<RouteReply> {
  const { mint, agent } = call.session;
  const written = readPost(call.context.body, parts.optionsVenueId);
  await mustHoldNoToken(parts, [written.text, written.venue, written.ref]);
  await roomForPost(parts.db, mint, await databaseTime(parts.db));
  const stored = await inOneWrite(parts, call, parts.chain.model, async (tx, now, model) => {
    await roomForPost(tx, mint, now);
    return insertPost(tx, { mint, agent, model, ...written }, now);
  });
  return { status: 201, body: stored };
}
