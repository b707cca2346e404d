import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { keyOf } from '../program/state/keys.ts';
import { seededBytes } from '../program/state/random.ts';
import type { Key } from '../program/state/state.ts';

/** DER of an ed25519 private key up to its 32 bytes (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
/** Agents rotate among this many keys per token. */
export const AGENT_GENERATIONS = 8;

export interface Keypair {
  key: Key;
  publicKey: Uint8Array;
  /** 64 bytes: the seed, then the public key. */
  secretKey: Uint8Array;
  /** Detached ed25519 signature, 64 bytes. */
  sign(message: Uint8Array): Uint8Array;
}

const known = new Map<string, Keypair>();

function keypairOf(label: string): Keypair {
  const cached = known.get(label);
  if (cached !== undefined) return cached;
  const secret = seededBytes(label, 32);
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, secret]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = new Uint8Array(
    createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32),
  );
  const keypair: Keypair = {
    key: keyOf(publicKey),
    publicKey,
    secretKey: new Uint8Array(Buffer.concat([secret, publicKey])),
    sign: (message) => new Uint8Array(sign(null, message, privateKey)),
  };
  known.set(label, keypair);
  return keypair;
}

/** The keypair of a token's agent. `init_policy` sets the one of generation 0, `set_agent` picks any generation. */
export function agentKeypair(seed: string | number, mint: Key, generation = 0): Keypair {
  return keypairOf(`agent:${seed}:${mint}:${generation}`);
}

/** The keypair of Policy.agent; null where that key is not one that the seed makes. */
export function agentKeypairOf(seed: string | number, mint: Key, agent: Key): Keypair | null {
  for (let generation = 0; generation < AGENT_GENERATIONS; generation += 1) {
    const keypair = agentKeypair(seed, mint, generation);
    if (keypair.key === agent) return keypair;
  }
  return null;
}
