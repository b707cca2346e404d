import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Queries } from '../../postgres/port.ts';

/** The only service, mint and key that a nonce is valid for. */
export interface NonceTerms {
  service: string;
  mint: string;
  agent: string;
}

const TIME = 8;
const RANDOM = 16;
const MAC = 32;

/** 8 bytes of issue time, 16 random, then a MAC over the terms and both: nothing has to be kept until it is used. */
export function makeNonce(key: Uint8Array, terms: NonceTerms, issuedAt: number): string {
  const head = Buffer.alloc(TIME + RANDOM);
  head.writeBigUInt64BE(BigInt(issuedAt));
  head.set(randomBytes(RANDOM), TIME);
  return Buffer.concat([head, macOf(key, terms, head)]).toString('base64url');
}

/** The issue time in unix milliseconds; null where the nonce is not ours, or is of other terms. */
export function readNonce(key: Uint8Array, terms: NonceTerms, nonce: string): number | null {
  const bytes = Buffer.from(nonce, 'base64url');
  // Only one text is accepted for the same bytes: with another hash, a spent nonce could be used again.
  if (bytes.length !== TIME + RANDOM + MAC || bytes.toString('base64url') !== nonce) return null;
  const head = bytes.subarray(0, TIME + RANDOM);
  if (!timingSafeEqual(macOf(key, terms, head), bytes.subarray(TIME + RANDOM))) return null;
  return Number(head.readBigUInt64BE());
}

function macOf(key: Uint8Array, { service, mint, agent }: NonceTerms, head: Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${service}\n${mint}\n${agent}\n`).update(head).digest();
}

/** How secrets are kept: sha-256, hex. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/**
 * SQL of what stands in place of a hash where spent nonces were deleted: one row for each hour in which such nonces
 * expired, with the latest of these times. Up to there all nonces of that hour count as spent: a clock that was ahead
 * when they were deleted, and is put back, makes none valid again.
 */
export const deletedHour = (expiresAt: string) =>
  `'hour ' || floor(extract(epoch FROM ${expiresAt}) / 3600)::bigint`;

/** Reads the key that `migrate` made, and caches it; a failure is not cached. */
export function nonceKeyOf(db: Queries): () => Promise<Uint8Array> {
  let known: Uint8Array | null = null;
  return async () => {
    if (known !== null) return known;
    const [row] = await db.query<{ secret: string }>(`SELECT secret FROM agent_keys WHERE name = 'nonce'`);
    if (row === undefined) throw new Error('the agents have no key yet: run migrate');
    known = Buffer.from(row.secret, 'hex');
    return known;
  };
}
