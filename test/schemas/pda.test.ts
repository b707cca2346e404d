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

const text = (key: Uint8Array) => encodeBase58(key) as Address;

describe('program derived addresses', () => {
  test('are the same as those that kit derives, bump included', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyKey,
        fc.array(fc.uint8Array({ maxLength: 32 }), { maxLength: 4 }),
        async (program, seeds) => {
          const [address, bump] = await getProgramDerivedAddress({ programAddress: text(program), seeds });
          const ours = derivePda(program, seeds);
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
