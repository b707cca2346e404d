import { describe, expect, test } from 'vitest';
import { priceOf, rateOf } from '../../../api/figures/price.ts';
import { publicDetail } from '../../../api/http/public-detail.ts';
import { usdValue } from '../../../schemas/units.ts';

describe('the detail of a 500', () => {
  test('keeps what went wrong and drops what is secret', () => {
    const error = new Error(
      'GET https://u:p@host:1/path/apikey?x=1 failed with Bearer abc.def and s3cret\n at y',
    );
    expect(publicDetail(error, ['s3cret', ''])).toBe(
      'Error: GET https://… failed with Bearer *** and *** at y',
    );
  });

  test.each([
    ['connect ECONNREFUSED 10.0.0.5:8123', 'connect ECONNREFUSED'],
    ['connect ETIMEDOUT [fd00::5]:5432 (after 10 s)', 'connect ETIMEDOUT (after 10 s)'],
    ['getaddrinfo ENOTFOUND ch-1.internal, asked twice', 'getaddrinfo ENOTFOUND, asked twice'],
    ['read ECONNRESET', 'read ECONNRESET'],
  ])('says of "%s" not where our servers are', (message, told) => {
    expect(publicDetail(new Error(message), [])).toBe(`Error: ${told}`);
  });

  test('is bounded, and says something of whatever is thrown', () => {
    expect(publicDetail(new Error('x'.repeat(5000)), []).length).toBeLessThan(310);
    expect(publicDetail('text', [])).toBe('an unknown failure');
  });
});

describe('prices', () => {
  const row = { mint: 'm', source: 'catalogue', read_at: '0', observed_at: null } as const;

  test.each([
    ['1', 6],
    ['1.5e2', 9],
    ['1e-7', 9],
    ['5e-324', 18],
    ['0', 6],
    ['123456789.987654321', 0],
    ['1e20', 0],
  ])('the rate of %s at %i decimals ranks exactly as the dollars that are served', (usd, decimals) => {
    const rate = rateOf('m', decimals, priceOf([{ ...row, usd }], 0));
    expect(rate).not.toBeNull();
    if (rate === null) return;
    for (const amount of [0n, 1n, 999_999n, 2n ** 64n - 1n, 2n ** 128n - 1n]) {
      const micro = (amount * rate.multiplier) / rate.divisor;
      const served = usdValue(amount, decimals, usd).replace('.', '');
      expect(BigInt(served)).toBe(micro);
      expect(2n ** 129n * rate.multiplier < 2n ** 256n).toBe(true);
    }
  });

  test('a price whose time is still to come is none, or it would be fresh until then', () => {
    const at = (observed: number) =>
      priceOf([{ ...row, usd: '2', read_at: '1000', observed_at: new Date(observed).toISOString() }], 1_000);
    expect(at(121_000)).toMatchObject({ usd: '2', observedAt: '1970-01-01T00:02:01.000Z' });
    const far = at(Date.UTC(2099, 0, 1));
    expect(far.usd).toBeNull();
    expect(far.reason).toContain('a time that is still to come (2099-01-01T00:00:00.000Z)');
  });

  test.each(['-1', 'abc', '1e300', 'Infinity', ''])('a price of %j is none', (usd) => {
    expect(priceOf([{ ...row, usd }], 0).usd).toBeNull();
  });
});
