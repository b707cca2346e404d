import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MalformedError } from '../../schemas/malformed.ts';
import { decodeAccount } from '../../schemas/program/accounts.ts';
import { ACCOUNTS } from '../../schemas/program/idl.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { anyStruct, SEED } from './support/arbitraries.ts';
import { type KitValue, kitEncode } from './support/kit-codecs.ts';

const NAMES = [...ACCOUNTS.values()];
const ENUMS: Record<string, Record<string, readonly string[]>> = {
  Policy: { mode: ['Passive', 'Agent'] },
  VenueAccount: { kind: ['Local', 'Remote'] },
};

/** Kit's fields under our reader's names. */
function expected(name: string, fields: KitValue): KitValue {
  const out: KitValue = { type: name };
  for (const [key, value] of Object.entries(fields)) {
    const names = ENUMS[name]?.[key];
    out[key] = names === undefined ? value : names[value as number];
  }
  return out;
}

/** Our decoded account, with keys as text where kit has text. */
function asKit(account: object, fields: KitValue): KitValue {
  return Object.fromEntries(
    Object.entries(account).map(([key, value]) => [
      key,
      value instanceof Uint8Array && typeof fields[key] === 'string' ? encodeBase58(value) : value,
    ]),
  );
}

describe.each(NAMES)('the account %s', (name) => {
  test('decodes to what kit encoded, also with zero bytes after it', () => {
    fc.assert(
      fc.property(anyStruct(name), fc.nat({ max: 300 }), (fields, padding) => {
        const data = Uint8Array.from([...kitEncode(name, fields), ...new Uint8Array(padding)]);
        expect(asKit(decodeAccount(data), fields)).toEqual(expected(name, fields));
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  test('is malformed when cut short at any length', () => {
    const [fields] = fc.sample(anyStruct(name), { seed: SEED, numRuns: 1 }) as [KitValue];
    const data = kitEncode(name, fields);
    for (let length = 0; length < data.length; length += 1) {
      expect(() => decodeAccount(data.subarray(0, length))).toThrow(MalformedError);
    }
  });
});

describe('decoding an account', () => {
  const sample = (name: string, over: KitValue): Uint8Array => {
    const [fields] = fc.sample(anyStruct(name), { seed: SEED, numRuns: 1 }) as [KitValue];
    return kitEncode(name, { ...fields, ...over });
  };

  test('fails for an unknown discriminator', () => {
    const data = sample('Policy', {});
    data[0] = (data[0] as number) ^ 1;
    expect(() => decodeAccount(data)).toThrow('unknown discriminator');
  });

  test('fails for a mode or a venue kind out of range', () => {
    expect(() => decodeAccount(sample('Policy', { mode: 2 }))).toThrow('Policy.mode: 2 is out of range');
    expect(() => decodeAccount(sample('VenueAccount', { kind: 2 }))).toThrow(
      'VenueAccount.kind: 2 is out of range',
    );
  });

  test.each([0, 3, 129, 255])('fails for the asset class %i, which is not a single bit', (assetClass) => {
    expect(() => decodeAccount(sample('VenueAccount', { assetClass }))).toThrow('not one class bit');
  });

  test('fails for a bool that is neither 0 nor 1', () => {
    const off = sample('Policy', { locked: false, paused: false });
    const on = sample('Policy', { locked: true, paused: false });
    const at = off.findIndex((byte, index) => byte !== on[index]);
    off[at] = 2;
    expect(() => decodeAccount(off)).toThrow('Policy.locked: 2 is no bool');
  });

  test('fails for a string that is not UTF-8, and for one that goes past the end', () => {
    const broken = sample('Origin', { name: 'abcd' });
    broken[8 + 2 + 4] = 0xff;
    expect(() => decodeAccount(broken)).toThrow('Origin.name: not UTF-8');
    const long = sample('Model', { name: 'abcd', provider: 'x' });
    new DataView(long.buffer).setUint32(8 + 2, 0xffff_fff0, true);
    expect(() => decodeAccount(long)).toThrow('goes past the end');
  });

  test('keeps numbers that are beyond their meaningful range as they are', () => {
    expect(decodeAccount(sample('Policy', { risk: 255, toLpBps: 65_535 }))).toMatchObject({
      risk: 255,
      toLpBps: 65_535,
    });
  });

  test('throws nothing but MalformedError for 10,000 random mutations', () => {
    const anyMutation = fc.tuple(
      fc.constantFrom(...NAMES).chain((name) => anyStruct(name).map((fields) => kitEncode(name, fields))),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }),
      fc.option(fc.nat({ max: 400 })),
    );
    let malformed = 0;
    fc.assert(
      fc.property(anyMutation, ([bytes, changes, length]) => {
        const data = bytes.slice(0, length ?? undefined);
        for (const [at, byte] of changes) if (data.length > 0) data[at % data.length] = byte;
        try {
          decodeAccount(data);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedError);
          malformed += 1;
        }
      }),
      { seed: SEED, numRuns: 10_000 },
    );
    expect(malformed).toBeGreaterThan(1000);
  });
});
