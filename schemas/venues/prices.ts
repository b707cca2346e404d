import { MalformedError } from '../malformed.ts';
import { parseDecimal } from '../units.ts';
import { objectOf } from './decimal.ts';

/** Prices of the second source by mint, as it wrote them; null where it has none. @throws MalformedError */
export function readPrices(reply: unknown, mints: readonly string[]): Map<string, string | null> {
  const { success, data } = objectOf(reply, 'prices');
  if (success !== true) throw new MalformedError('prices', 'not a success');
  const rows = objectOf(data, 'prices.data');
  return new Map(
    mints.map((mint) => {
      const price = Object.hasOwn(rows, mint) ? rows[mint] : null;
      const text = typeof price === 'number' ? String(price) : price;
      const decimal = typeof text === 'string' && text.length <= 80 ? parseDecimal(text) : null;
      return [mint, decimal === null || decimal.digits <= 0n ? null : (text as string)];
    }),
  );
}
