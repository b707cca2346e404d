import type { Challenge } from '../../../schemas/responses/agent.ts';
import { isoMillis } from '../../../schemas/units.ts';
import type { RouteContext, RouteReply } from '../../http/route.ts';
import type { AgentParts } from '../agent-parts.ts';
import { keyOf } from '../body.ts';
import { knownSlot } from '../chain/decided.ts';
import { policyOfAgent } from '../chain/reading.ts';
import { CHALLENGES } from '../limits/limits.ts';
import { CHALLENGE_MS, challengeMessage } from './message.ts';
import { makeNonce } from './nonce.ts';

/** `POST /api/agent/challenge`: a text to sign, for the key that the chain names now. Nothing of it is stored. */
export async function challenge(parts: AgentParts, context: RouteContext): Promise<RouteReply> {
  const { db, serviceName, publicUrl } = parts;
  const mint = keyOf(context.body, 'mint').text;
  const agent = keyOf(context.body, 'agent').text;
  // What follows asks the store and the chain, so the attempt counts, also with an unknown mint or a foreign key.
  await parts.countAttempt(
    `challenge:${context.clientAddress}`,
    CHALLENGES,
    `${CHALLENGES} challenges a minute are the most for an address`,
  );
  await policyOfAgent(parts, { mint, agent }, await knownSlot(db, mint), 'stranger');
  const [row] = await db.query<{ now: string }>(
    'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text AS now',
  );
  const issuedAt = Number(row?.now);
  const nonce = makeNonce(await parts.nonceKey(), { service: serviceName, mint, agent }, issuedAt);
  const message = challengeMessage({ service: serviceName, publicUrl, mint, agent, nonce, issuedAt });
  const body: Challenge = { nonce, message, expiresAt: isoMillis(issuedAt + CHALLENGE_MS) };
  return { status: 200, body };
}
