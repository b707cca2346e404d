import type { RouteContext, RouteReply } from '../http/route.ts';
import { keyOf, stringOf } from './body.ts';
import { mustBeAgent } from './chain.ts';
import type { AgentParts } from './deps.ts';
import { takeTurn } from './limits.ts';
import { CHALLENGE_MS, challengeMessage } from './message.ts';
import { hashOf, readNonce } from './nonce.ts';
import { Refusal } from './refusal.ts';
import { decidedSlot, keepDecidedSlot, startSession } from './sessions.ts';
import { isSigned } from './signature.ts';

const dead = () =>
  new Refusal(
    'invalid_challenge',
    'the challenge is unknown, used, expired, or of another mint or key: ask for a new one',
  );

/** `POST /api/agent/session`: a bearer token for a signed challenge. The nonce and the session are one transaction. */
export async function session(parts: AgentParts, { body }: RouteContext): Promise<RouteReply> {
  const { db, chain, serviceName, publicUrl } = parts;
  const mint = keyOf(body, 'mint').text;
  const agent = keyOf(body, 'agent');
  const nonce = stringOf(body, 'nonce');
  const signature = stringOf(body, 'signature');
  const terms = { service: serviceName, mint, agent: agent.text };
  const issuedAt = readNonce(await parts.nonceKey(), terms, nonce);
  if (issuedAt === null) throw dead();
  const nonceHash = hashOf(nonce);
  const expiresAt = new Date(issuedAt + CHALLENGE_MS).toISOString();
  const [used] = await db.query(
    `SELECT 1 WHERE $1::timestamptz <= now() OR EXISTS (SELECT 1 FROM spent_nonces WHERE nonce_hash = $2)`,
    [expiresAt, nonceHash],
  );
  if (used !== undefined) throw dead();
  const message = challengeMessage({ ...terms, publicUrl, nonce, issuedAt });
  if (!isSigned(Buffer.from(message), signature, agent.bytes))
    throw new Refusal(
      'bad_signature',
      'the signature is not the agent key’s over the message of this challenge',
    );
  const policy = await chain.policy(mint, await decidedSlot(db, mint));
  mustBeAgent(policy, agent.text);
  const spend = () =>
    db.transaction(async (tx) => {
      const now = await takeTurn(tx, `nonce:${nonceHash}`);
      const spent = await tx.query(
        `INSERT INTO spent_nonces (nonce_hash, expires_at)
       SELECT $1, $2::timestamptz WHERE $2::timestamptz > $3::timestamptz
       ON CONFLICT (nonce_hash) DO NOTHING RETURNING 1`,
        [nonceHash, expiresAt, now],
      );
      if (spent.length === 0) throw dead();
      await keepDecidedSlot(tx, mint, policy.slot);
      return startSession(tx, mint, agent.text, now);
    });
  return { status: 200, body: await parts.inTurn(`nonce ${nonceHash}`, spend) };
}
