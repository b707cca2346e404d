import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const MARKER = new TextEncoder().encode('ProgramDerivedAddress');

export interface Pda {
  address: Uint8Array;
  bump: number;
}

const found = new LRUCache<string, Pda>({ max: 200_000 });

function squared(value: bigint, times: number): bigint {
  let result = value;
  for (let left = times; left > 0; left -= 1) result = (result * result) % P;
  return result;
}

/** Euler's criterion: `x` to the power (P − 1) / 2 = 2²⁵⁴ − 10, by the usual addition chain for this prime. */
function isSquare(x: bigint): boolean {
  const x9 = (x * squared(x, 3)) % P;
  const x11 = (x9 * squared(x, 1)) % P;
  // `ones(n)` is x to the power 2ⁿ − 1.
  const ones5 = (x9 * squared(x11, 1)) % P;
  const ones10 = (ones5 * squared(ones5, 5)) % P;
  const ones20 = (ones10 * squared(ones10, 10)) % P;
  const ones40 = (ones20 * squared(ones20, 20)) % P;
  const ones50 = (ones10 * squared(ones40, 10)) % P;
  const ones100 = (ones50 * squared(ones50, 50)) % P;
  const ones200 = (ones100 * squared(ones100, 100)) % P;
  const ones250 = (ones50 * squared(ones200, 50)) % P;
  const almost = (x * squared(ones250, 2)) % P;
  return (squared(almost, 2) * squared(x, 1)) % P === 1n;
}

/** Whether 32 bytes are the compressed form of a point of ed25519's curve. */
export function isOnCurve(bytes: Uint8Array): boolean {
  const little = Buffer.from(bytes).reverse();
  const sign = (little[0] as number) >> 7;
  little[0] = (little[0] as number) & 0x7f;
  const y = BigInt(`0x${little.toString('hex')}`);
  const y2 = (y * y) % P;
  const u = (y2 - 1n + P) % P;
  const v = (D * y2 + 1n) % P;
  // x² = u / v has a root when u · v is a square.
  if (u === 0n) return sign === 0;
  return isSquare((u * v) % P);
}

/**
 * The program derived address of `seeds`: the first from bump 255 down that is off the curve.
 * @throws RangeError where no bump gives one.
 */
export function derivePda(programId: Uint8Array, seeds: readonly Uint8Array[]): Pda {
  const key = Buffer.concat([
    programId,
    ...seeds.flatMap((seed) => [Uint8Array.of(seed.length), seed]),
  ]).toString('latin1');
  const known = found.get(key);
  if (known !== undefined) return known;
  for (let bump = 255; bump >= 0; bump -= 1) {
    const hash = createHash('sha256');
    for (const seed of seeds) hash.update(seed);
    const address = hash.update(Uint8Array.of(bump)).update(programId).update(MARKER).digest();
    if (isOnCurve(address)) continue;
    const pda = { address: Uint8Array.from(address), bump };
    found.set(key, pda);
    return pda;
  }
  throw new RangeError('no bump gives an address off the curve');
}

const seed = (text: string) => new TextEncoder().encode(text);
const u16 = (value: number) => Uint8Array.of(value & 0xff, value >> 8);

const SEEDS = {
  config: seed('config'),
  origin: seed('origin'),
  model: seed('model'),
  policy: seed('policy'),
  venue: seed('venue'),
  pool: seed('pool'),
  eventAuthority: seed('__event_authority'),
  bankroll: seed('bankroll'),
  quoteEscrow: seed('quote_escrow'),
  baseEscrow: seed('base_escrow'),
  holderRewards: seed('holder_rewards'),
  lpQuote: seed('lp_quote'),
};

export function configAddress(programId: Uint8Array): Uint8Array {
  return derivePda(programId, [SEEDS.config]).address;
}

export function originAddress(programId: Uint8Array, id: number): Uint8Array {
  return derivePda(programId, [SEEDS.origin, u16(id)]).address;
}

export function modelAddress(programId: Uint8Array, id: number): Uint8Array {
  return derivePda(programId, [SEEDS.model, u16(id)]).address;
}

export function policyAddress(programId: Uint8Array, mint: Uint8Array): Uint8Array {
  return derivePda(programId, [SEEDS.policy, mint]).address;
}

export function venueAddress(
  programId: Uint8Array,
  policy: Uint8Array,
  tokenAccount: Uint8Array,
): Uint8Array {
  return derivePda(programId, [SEEDS.venue, policy, tokenAccount]).address;
}

export function eventAuthority(programId: Uint8Array): Uint8Array {
  return derivePda(programId, [SEEDS.eventAuthority]).address;
}

/** Address of the launchpad's pool of a pair, whether or not an account exists there. */
export function poolAddress(launchpad: Uint8Array, baseMint: Uint8Array, quoteMint: Uint8Array): Uint8Array {
  return derivePda(launchpad, [SEEDS.pool, baseMint, quoteMint]).address;
}

/** The LP staging account of a policy, which no figure shows. */
export function lpQuoteAddress(programId: Uint8Array, policy: Uint8Array): Uint8Array {
  return derivePda(programId, [SEEDS.lpQuote, policy]).address;
}

export interface PolicyTokenAccounts {
  bankroll: Uint8Array;
  quoteEscrow: Uint8Array;
  baseEscrow: Uint8Array;
  holderRewards: Uint8Array;
}

/** The token accounts that the program keeps for a policy. */
export function policyTokenAccounts(programId: Uint8Array, policy: Uint8Array): PolicyTokenAccounts {
  const at = (name: Uint8Array) => derivePda(programId, [name, policy]).address;
  return {
    bankroll: at(SEEDS.bankroll),
    quoteEscrow: at(SEEDS.quoteEscrow),
    baseEscrow: at(SEEDS.baseEscrow),
    holderRewards: at(SEEDS.holderRewards),
  };
}
