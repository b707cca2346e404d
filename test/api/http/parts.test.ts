import { describe, expect, test } from 'vitest';
import { freshUntil, inDollars, priceOf, rateOf } from '../../../api/figures/price.ts';
import { publicDetail } from '../../../api/http/public-detail.ts';
import { figure } from '../../../schemas/figure.ts';
import { type Decimal, parseDecimal } from '../../../schemas/units.ts';

describe('the detail of a 500', () => {
  test('keeps what went wrong and masks URLs, tokens and known secrets', () => {
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
  ])('omits the addresses of our servers from "%s"', (message, told) => {
    expect(publicDetail(new Error(message), [])).toBe(`Error: ${told}`);
  });

  test('is bounded in length, and is "an unknown failure" for a thrown value that is not an Error', () => {
    expect(publicDetail(new Error('x'.repeat(5000)), []).length).toBeLessThan(310);
    expect(publicDetail('text', [])).toBe('an unknown failure');
  });
});

describe('prices', () => {
  const observed_at = new Date(0).toISOString();
  const row = { mint: 'm', source: 'catalogue', read_at: '0', observed_at } as const;

  test.each([
    ['1', 6],
    ['1.5e2', 9],
    ['1e-7', 9],
    ['5e-324', 18],
    ['0', 6],
    ['123456789.987654321', 0],
    ['1e20', 0],
    ['1.2345678901234567890123456789012345678', 6],
    [`1.5${'0'.repeat(59)}`, 0],
    [`0.${'9'.repeat(60)}`, 0],
    [`${'9'.repeat(30)}.${'9'.repeat(45)}`, 6],
    [`0.${'7'.repeat(60)}e-15`, 18],
  ])(
    'the rate that ranks amounts by the price %s at %i decimals yields exactly the dollars that are served',
    (usd, decimals) => {
      const price = priceOf([{ ...row, usd }], 0);
      expect(price.usd).toBe(usd);
      const { digits, scale } = parseDecimal(usd) as Decimal;
      const rate = rateOf('m', decimals, price);
      expect(rate).not.toBeNull();
      if (rate === null) return;
      for (const amount of [0n, 1n, 999_999n, 2n ** 64n - 1n, 2n ** 128n - 1n]) {
        const micro = (amount * rate.multiplier) / rate.divisor;
        const { value } = inDollars(figure(amount.toString(), 'here', null), 'it', { decimals, price });
        expect(BigInt(String(value).replace('.', ''))).toBe(micro);
        const cut = (amount * digits * 1_000_000n) / 10n ** BigInt(decimals + scale) - micro;
        // Up to thirty digits nothing is cut; beyond them only what no amount shows.
        const mayBeCut = digits < 10n ** 30n ? 0n : micro / 10n ** 29n + 1n;
        expect(cut >= 0n && cut <= mayBeCut).toBe(true);
        expect(2n ** 129n * rate.multiplier < 2n ** 256n).toBe(true);
      }
    },
  );

  test('a price dated in the future, beyond a tolerance of two minutes, is absent', () => {
    const at = (observed: number) =>
      priceOf([{ ...row, usd: '2', read_at: '1000', observed_at: new Date(observed).toISOString() }], 1_000);
    expect(at(121_000)).toMatchObject({ usd: '2', observedAt: '1970-01-01T00:02:01.000Z' });
    // Otherwise it would count as fresh until then.
    const far = at(Date.UTC(2099, 0, 1));
    expect(far.usd).toBeNull();
    expect(far.reason).toContain('a time that is still to come (2099-01-01T00:00:00.000Z)');
  });

  test('a price dated by our own clock is absent after the clock is put back, until it is at most two minutes ahead', () => {
    const [now, read] = [Date.UTC(2026, 0, 1, 12), Date.UTC(2026, 0, 1, 14)];
    const own = { source: 'second', observed_at: null } as const;
    const rows = [{ ...row, ...own, usd: '2', read_at: String(read) }];
    expect(priceOf(rows, now)).toMatchObject({
      usd: null,
      reason: expect.stringContaining('a time that is still to come (2026-01-01T14:00:00.000Z)'),
    });
    expect(freshUntil(rows, now)).toBe(read - 120_000);
    expect(priceOf(rows, read - 120_000).usd).toBe('2');
    expect(freshUntil(rows, read - 120_000)).toBe(read + 900_001);
    // A price with a time of its own is as old as that, whenever it was read.
    const told = { ...row, usd: '3', read_at: String(read), observed_at: new Date(now).toISOString() };
    expect(priceOf([told], now)).toMatchObject({ usd: '3', observedAt: '2026-01-01T12:00:00.000Z' });
  });

  test.each(['-1', 'abc', '1e300', '1e30', `${'9'.repeat(31)}.5`, `-1.${'0'.repeat(40)}`, 'Infinity', ''])(
    'the price %j is unusable and therefore absent',
    (usd) => {
      expect(priceOf([{ ...row, usd }], 0).usd).toBeNull();
    },
  );
});
