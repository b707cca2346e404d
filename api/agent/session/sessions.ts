import { randomBytes } from 'node:crypto';
import type { Session } from '../../../schemas/responses/agent.ts';
import type { Queries, Transaction } from '../../postgres/port.ts';
import { isRecent, REFUSED, secondsLeft } from '../limits/limits.ts';
import { iso } from '../posts/store.ts';
import { Refusal } from '../refusal.ts';
import { hashOf } from './nonce.ts';
import { tokenHashesIn } from './token-forms.ts';

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const SESSION_MINUTES = 30;

/**
 * SQL of whether a session is live. One started more than a minute ahead is of a clock that was put back since, and would
 * live for longer than its time.
 */
const isLive = (now: string) => `expires_at > ${now} AND created_at <= ${now} + interval '1 minute'`;

/** A policy and the key that writes for it. */
export interface Key {
  mint: string;
  agent: string;
}

export interface LiveSession extends Key {
  tokenHash: string;
  /** A reading of the chain has shown another agent since the session started. */
  rotatedOut: boolean;
  /** Slot of the reading that the session was started by. */
  slot: bigint;
  /** Slot of the newest reading of the policy that is known, in any process. */
  knownSlot: bigint;
  /** Seconds that the policy must wait because of its refused attempts; null where it need not. */
  wait: number | null;
}

/** The session that the header names. @throws Refusal invalid_session */
export async function sessionOf(db: Queries, authorization: string | undefined): Promise<LiveSession> {
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw new Refusal('invalid_session', 'this route needs a bearer token');
  const [row] = TOKEN.test(token)
    ? await db.query<{
        mint: string;
        agent: string;
        slot: string;
        rotated: boolean;
        known: string;
        wait: number | null;
      }>(
        `SELECT mint, agent, s.slot::text AS slot, rotated_out AS rotated, coalesce((SELECT greatest(d.slot, d.shown) FROM decided_reads AS d WHERE d.mint = s.mint), 0)::text AS known,
           (SELECT ${secondsLeft('now()')} FROM attempts
            WHERE subject = 'refused:' || s.mint AND ${isRecent('now()')}
            ORDER BY at DESC OFFSET ${REFUSED - 1} LIMIT 1) AS wait
         FROM sessions AS s
         WHERE token_hash = $1 AND ${isLive('now()')}`,
        [hashOf(token)],
      )
    : [];
  if (row === undefined) throw ended();
  return {
    tokenHash: hashOf(token),
    mint: row.mint,
    agent: row.agent,
    rotatedOut: row.rotated,
    slot: BigInt(row.slot),
    knownSlot: BigInt(row.known),
    wait: row.wait,
  };
}

function ended(): Refusal {
  return new Refusal('invalid_session', 'the session is unknown or has ended');
}

/** In the transaction that writes. @throws Refusal invalid_session where the session ended meanwhile. */
export async function mustStillLive(tx: Transaction, session: LiveSession, now: string): Promise<void> {
  const [row] = await tx.query(
    `SELECT 1 FROM sessions WHERE token_hash = $1 AND ${isLive('$2::timestamptz')} AND NOT rotated_out`,
    [session.tokenHash, now],
  );
  if (row === undefined) throw ended();
}

/**
 * A new session of 30 minutes; its token is in the answer and nowhere else.
 * @param slot of the reading that shows the key to be the agent.
 */
export async function startSession(
  tx: Transaction,
  mint: string,
  agent: string,
  slot: bigint,
  now: string,
): Promise<Session> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const [row] = await tx.query<{ expires_at: string }>(
    `INSERT INTO sessions (token_hash, mint, agent, slot, created_at, expires_at)
     VALUES ($1, $2, $3, $5::text::bigint, $4::timestamptz, $4::timestamptz + interval '${SESSION_MINUTES} minutes')
     RETURNING ${iso('expires_at')} AS expires_at`,
    [hashOf(token), mint, agent, now, slot.toString()],
  );
  return { token, tokenType: 'Bearer', expiresAt: (row as { expires_at: string }).expires_at };
}

/** Ends the key's sessions that are marked rotated out; those started after the key became the agent again go on. */
export async function endRotatedOut(db: Queries, { mint, agent }: Key): Promise<void> {
  await db.query('DELETE FROM sessions WHERE mint = $1 AND agent = $2 AND rotated_out', [mint, agent]);
}

/** Ends every session of the key that was started before `slot`, in which the policy's agent changed. */
export async function endStartedBefore(db: Queries, { mint, agent }: Key, slot: bigint): Promise<void> {
  await db.query('DELETE FROM sessions WHERE mint = $1 AND agent = $2 AND slot < $3::text::bigint', [
    mint,
    agent,
    slot.toString(),
  ]);
}

/** Whether the texts hold a token of a live session, wherever and in whatever form it stands in them. */
export async function holdsLiveToken(db: Queries, texts: readonly (string | null)[]): Promise<boolean> {
  const hashes = tokenHashesIn(texts.join('\n'), hashOf);
  if (hashes.length === 0) return false;
  const rows = await db.query(
    'SELECT 1 FROM sessions WHERE token_hash = ANY($1::text[]) AND expires_at > now() LIMIT 1',
    [hashes],
  );
  return rows.length > 0;
}
