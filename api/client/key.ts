import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { encodeBase58 } from '../../schemas/solana/base58.ts';

/** A key pair that shows its address and signs; the secret cannot be read from it. */
export interface Signer {
  /** The public key, base58. */
  readonly address: string;
  /** Detached ed25519 signature of the bytes, 64 bytes. */
  sign(bytes: Uint8Array): Uint8Array;
}

/** DER of an ed25519 private key up to its 32 bytes (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The public key, 32 bytes, of a seed of 32. */
export function publicKeyOf(seed: Uint8Array): Uint8Array {
  return new Uint8Array(
    createPublicKey(privateKeyOf(seed)).export({ format: 'der', type: 'spki' }).subarray(-32),
  );
}

function privateKeyOf(seed: Uint8Array) {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

/**
 * @param secretKey 64 bytes in the usual form: the seed, then the public key.
 * @throws RangeError, which holds no bytes, where it is of another length or its halves do not belong together.
 */
export function createSigner(secretKey: Uint8Array): Signer {
  if (secretKey.length !== 64) throw new RangeError('a secret key is 64 bytes');
  const seed = secretKey.subarray(0, 32);
  const publicKey = publicKeyOf(seed);
  if (!Buffer.from(publicKey).equals(secretKey.subarray(32)))
    throw new RangeError('the two halves of the secret key do not belong together');
  const privateKey = privateKeyOf(seed);
  return {
    address: encodeBase58(publicKey),
    sign: (bytes) => new Uint8Array(sign(null, bytes, privateKey)),
  };
}
