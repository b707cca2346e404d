import { describe, expect, test } from 'vitest';
import { MalformedError } from '../../schemas/malformed.ts';
import { decodeKey, encodeBase58 } from '../../schemas/solana/base58.ts';
import {
  decodeCurveConfig,
  decodePool,
  isCurveConfig,
  isPool,
  marketCap,
  type Pool,
} from '../../schemas/solana/launchpad.ts';
import { poolAddress } from '../../schemas/solana/pda.ts';
import { fixture } from './support/fixtures.ts';

const curve = {
  supply: 1_000_000_000_000_000n,
  virtualBase: 1_073_025_605_596_382n,
  virtualQuote: 30_000_852_951n,
  realBase: 0n,
  realQuote: 0n,
  baseDecimals: 6,
  quoteDecimals: 9,
};

function poolBytes(status: number): Uint8Array {
  const data = new Uint8Array(429);
  data.set(Buffer.from('f7ede3f5d7c3de46', 'hex'));
  data[17] = status;
  data.fill(4, 205, 237);
  return data;
}

describe('a market cap', () => {
  test('on a constant product curve is the supply times the ratio of the reserves, rounded down', () => {
    const bought = { ...curve, realBase: 100_000_000_000_000n, realQuote: 3_000_000_000n };
    const numerator = bought.virtualQuote + bought.realQuote;
    const denominator = bought.virtualBase - bought.realBase;
    expect(marketCap(bought, 0)?.quote).toBe((bought.supply * numerator) / denominator);
    expect(marketCap(bought, 0)?.priceQuotePerBase).toBeCloseTo(
      Number(numerator) / Number(denominator) / 1000,
      15,
    );
  });

  test('at a fixed price does not change with the amount sold', () => {
    expect(marketCap({ ...curve, realBase: 5n, realQuote: 7n }, 1)).toEqual(marketCap(curve, 1));
  });

  test('on a linear curve is zero before the first sale and grows with the amount sold', () => {
    expect(marketCap(curve, 2)).toEqual({ quote: 0n, priceQuotePerBase: 0 });
    const sold = { ...curve, realBase: 1n << 40n };
    expect(marketCap(sold, 2)?.quote).toBe((sold.supply * sold.virtualBase * sold.realBase) >> 64n);
  });

  test('is null when the curve has nothing left to sell', () => {
    expect(marketCap({ ...curve, realBase: curve.virtualBase }, 0)).toBeNull();
    expect(marketCap({ ...curve, virtualBase: 0n }, 1)).toBeNull();
  });
});

describe('a pool', () => {
  test.each([0, 1, 2])('with status %i is decoded', (status) => {
    expect(decodePool(poolBytes(status))).toMatchObject({ status, baseMint: new Uint8Array(32).fill(4) });
  });

  test('is malformed with another status, length or discriminator', () => {
    const other = poolBytes(0);
    other[0] = 0;
    for (const data of [
      poolBytes(3),
      poolBytes(0).subarray(1),
      Uint8Array.from([...poolBytes(0), 0]),
      other,
    ]) {
      expect(() => decodePool(data)).toThrow(MalformedError);
    }
    expect([isPool(other), isCurveConfig(poolBytes(0))]).toEqual([false, false]);
  });
});

describe('a curve config', () => {
  const configBytes = (curveType: number): Uint8Array => {
    const data = new Uint8Array(371).fill(9);
    data.set(Buffer.from('95089ccaa0fcb0d9', 'hex'));
    data[16] = curveType;
    return data;
  };

  test.each([0, 1, 2])('with curve type %i is decoded', (curveType) => {
    expect(decodeCurveConfig(configBytes(curveType))).toEqual({ curveType });
  });

  test('is malformed with another curve type, length or discriminator', () => {
    const longer = Uint8Array.from([...configBytes(0), 0]);
    for (const data of [configBytes(3), configBytes(0).subarray(1), longer, poolBytes(0)])
      expect(() => decodeCurveConfig(data)).toThrow(MalformedError);
  });
});

describe('recorded accounts of the launchpad', () => {
  const account = fixture('launchpad_pool/pool.json') as {
    pubkey: string;
    owner: string;
    dataBase64: string;
  };
  const pool = (): Pool => decodePool(Buffer.from(account.dataBase64, 'base64'));

  test('give the price and the market cap that were computed by hand', () => {
    const cap = marketCap(pool(), 0);
    expect(cap?.priceQuotePerBase).toBe(5.091420359918859e-7);
    expect(Number(cap?.quote) / 10 ** pool().quoteDecimals).toBeCloseTo(509.142035, 5);
  });

  test('name the two mints from which the address of the pool is derived', () => {
    const { baseMint, quoteMint } = pool();
    expect(encodeBase58(poolAddress(decodeKey(account.owner) as Uint8Array, baseMint, quoteMint))).toBe(
      account.pubkey,
    );
  });

  test('have curve type 0, constant product, in every global config', () => {
    const { accounts } = fixture('launchpad_pool/global-configs.json') as {
      accounts: { dataBase64: string }[];
    };
    for (const { dataBase64 } of accounts) {
      expect(decodeCurveConfig(Buffer.from(dataBase64, 'base64'))).toEqual({ curveType: 0 });
    }
  });
});
