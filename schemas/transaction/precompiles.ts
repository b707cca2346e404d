import { decodeKey } from '../solana/base58.ts';
import { sameBytes } from './own-calls.ts';
import type { Call } from './parts.ts';

/** Programs built into the runtime that verify signatures: their calls print no line in the logs. */
const PRECOMPILES: readonly Uint8Array[] = [
  decodeKey('Ed25519SigVerify111111111111111111111111111') as Uint8Array,
  decodeKey('KeccakSecp256k11111111111111111111111111111') as Uint8Array,
  decodeKey('Secp256r1SigVerify1111111111111111111111111') as Uint8Array,
];

export function isPrecompile({ program }: Call): boolean {
  return PRECOMPILES.some((known) => sameBytes(known, program));
}
