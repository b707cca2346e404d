import { type Address, getProgramDerivedAddress, isOffCurveAddress } from '@solana/kit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import {
  derivePda,
  isOnCurve,
  originAddress,
  policyTokenAccounts,
  venueAddress,
} from '../../schemas/solana/pda.ts';
import { anyKey, SEED } from './support/arbitraries.ts';

/** The prime of ed25519's field. */
const P = 2n ** 255n - 19n;

const text = (key: Uint8Array) => encodeBase58(key) as Address;

describe('program derived addresses', () => {
  test('are those that kit derives, bump included, and off the curve', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyKey,
        fc.array(fc.uint8Array({ maxLength: 32 }), { maxLength: 4 }),
        async (program, seeds) => {
          const [address, bump] = await getProgramDerivedAddress({ programAddress: text(program), seeds });
          const ours = derivePda(program, seeds);
          expect(isOffCurveAddress(text(ours.address))).toBe(true);
          expect([encodeBase58(ours.address), ours.bump]).toEqual([address, bump]);
        },
      ),
      { seed: SEED, numRuns: 60 },
    );
  });

  test('isOnCurve agrees with kit for any key', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        expect(isOnCurve(key)).toBe(!isOffCurveAddress(text(key)));
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  test.each([
    ['0', 0n],
    ['1, with x = 0', 1n],
    ['2', 2n],
    ['P - 1, with x = 0', P - 1n],
    ['P, which is 0', P],
    ['P + 1, which is 1', P + 1n],
    ['the largest', 2n ** 255n - 1n],
  ])('isOnCurve agrees with kit for both signs of x where y is %s', (_, y) => {
    for (const sign of [0n, 1n]) {
      const key = Buffer.from((y + (sign << 255n)).toString(16).padStart(64, '0'), 'hex').reverse();
      expect(isOnCurve(key), `sign ${sign}`).toBe(!isOffCurveAddress(text(key)));
    }
  });

  test('are the same for seeds that concatenate to the same bytes, as in the runtime', () => {
    const program = new Uint8Array(32).fill(3);
    const joined = derivePda(program, [Uint8Array.of(1, 2), Uint8Array.of(3)]);
    expect(derivePda(program, [Uint8Array.of(1), Uint8Array.of(2, 3)])).toEqual(joined);
  });

  test('of an origin are derived from its id as two little-endian bytes', async () => {
    const program = new Uint8Array(32).fill(5);
    const seeds = ['origin', Uint8Array.of(0x34, 0x12)];
    const [address] = await getProgramDerivedAddress({ programAddress: text(program), seeds });
    expect(encodeBase58(originAddress(program, 0x1234))).toBe(address);
  });

  test("of a policy's four token accounts and of a venue are those that kit derives", async () => {
    const [program, policy, token] = [7, 8, 9].map((fill) => new Uint8Array(32).fill(fill)) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    const kit = async (...seeds: (string | Uint8Array)[]) =>
      (await getProgramDerivedAddress({ programAddress: text(program), seeds }))[0];
    const accounts = policyTokenAccounts(program, policy);
    expect(encodeBase58(accounts.bankroll)).toBe(await kit('bankroll', policy));
    expect(encodeBase58(accounts.quoteEscrow)).toBe(await kit('quote_escrow', policy));
    expect(encodeBase58(accounts.baseEscrow)).toBe(await kit('base_escrow', policy));
    expect(encodeBase58(accounts.holderRewards)).toBe(await kit('holder_rewards', policy));
    expect(encodeBase58(venueAddress(program, policy, token))).toBe(await kit('venue', policy, token));
  });
});
