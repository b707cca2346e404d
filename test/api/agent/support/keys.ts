import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { encodeBase58 } from '../../../../schemas/solana/base58.ts';

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface TestKey {
  address: string;
  publicKey: Buffer;
  /** 64 bytes: the seed, then the public key. */
  secretKey: Buffer;
  sign(message: string): Buffer;
}

/** The key pair of a name, the same at every run. */
export function testKey(name: string): TestKey {
  const seed = createHash('sha256').update(name).digest();
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    address: encodeBase58(publicKey),
    publicKey,
    secretKey: Buffer.concat([seed, publicKey]),
    sign: (message) => sign(null, Buffer.from(message), privateKey),
  };
}
