import type { RouteContext, RouteReply } from '../../http/route.ts';
import type { AgentParts } from '../agent-parts.ts';
import { keyOf, stringOf } from '../body.ts';
import { knownSlot } from '../chain/decided.ts';
import { decided, policyOfAgent } from '../chain/reading.ts';
import { takeTurn } from '../limits/limits.ts';
import { Refusal } from '../refusal.ts';
import { CHALLENGE_MS, challengeMessage } from './message.ts';
import { deletedHour, hashOf, readNonce } from './nonce.ts';
import { startSession } from './sessions.ts';
import { isSigned } from './signature.ts';

const dead = () =>
  new Refusal(
    'invalid_challenge',
    'the challenge is unknown, used, expired, or of another mint or key: ask for a new one',
  );

/**
 * SQL of whether a challenge that expires at `$1` is live. One issued more than a minute ahead is of a clock that was put
 * back since, and would live for longer than it says.
 */
const isLive = (now: string) =>
  `$1::timestamptz > ${now} AND $1::timestamptz <= ${now} + interval '${CHALLENGE_MS + 60_000} milliseconds'`;

/**
 * `POST /api/agent/session`: a token for a signed challenge. Its first valid signature spends the nonce in any case.
 */
export async function session(parts: AgentParts, { body, clientAddress }: RouteContext): Promise<RouteReply> {
  const { db, serviceName, publicUrl } = parts;
  await parts.admit(clientAddress);
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
    `SELECT 1 WHERE NOT (${isLive('now()')}) OR EXISTS (SELECT 1 FROM spent_nonces WHERE nonce_hash = $2)`,
    [expiresAt, nonceHash],
  );
  if (used !== undefined) throw dead();
  const message = challengeMessage({ ...terms, publicUrl, nonce, issuedAt });
  if (!isSigned(Buffer.from(message), signature, agent.bytes))
    throw new Refusal(
      'bad_signature',
      'the signature is not the agent key’s over the message of this challenge',
    );
  await parts.inTurn(`nonce ${nonceHash}`, () => spend(parts, nonceHash, expiresAt));
  const key = { mint, agent: agent.text };
  const read = async (least: bigint) => ({ policy: await policyOfAgent(parts, key, least, 'session') });
  const start = decided(parts, await knownSlot(db, mint), read, (tx, now, { policy }) =>
    startSession(tx, mint, agent.text, policy.slot, now),
  );
  return { status: 200, body: await start };
}

/**
 * Spends the nonce: only the first valid signature can, in all processes together.
 * @throws Refusal invalid_challenge
 */
function spend({ db }: AgentParts, nonceHash: string, expiresAt: string): Promise<void> {
  return db.transaction(async (tx) => {
    const now = await takeTurn(tx, `nonce:${nonceHash}`);
    const spent = await tx.query(
      `INSERT INTO spent_nonces (nonce_hash, expires_at)
       SELECT $2, $1::timestamptz WHERE ${isLive('$3::timestamptz')}
       ON CONFLICT (nonce_hash) DO NOTHING RETURNING 1`,
      [expiresAt, nonceHash, now],
    );
    if (spent.length === 0) throw dead();
    // Behind the insert, which waited for a sweep that was deleting this nonce.
    const deleted = await tx.query(
      `SELECT 1 FROM spent_nonces WHERE nonce_hash = ${deletedHour('$1::timestamptz')} AND expires_at >= $1::timestamptz`,
      [expiresAt],
    );
    if (deleted.length > 0) throw dead();
  });
}
