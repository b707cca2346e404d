import { type Decimal, parseDecimal } from '../../../schemas/units.ts';

/** Read here, as a size may have more digits than `parseDecimal` takes, which is made for what venues say. */
const PLAIN = /^(\d+)(?:\.(\d+))?$/;

function decimal(text: string): Decimal {
  const [, whole, fraction = ''] = PLAIN.exec(text) ?? [];
  if (whole !== undefined) return { digits: BigInt(whole + fraction), scale: fraction.length };
  const value = parseDecimal(text);
  if (value === null) throw new RangeError('no decimal');
  return value;
}

/** Both as whole numbers of one unit, 10^-scale. */
function aligned(a: string, b: string): { left: bigint; right: bigint; scale: number } {
  const [x, y] = [decimal(a), decimal(b)];
  const scale = Math.max(x.scale, y.scale);
  const at = ({ digits, scale: own }: Decimal) => digits * 10n ** BigInt(scale - own);
  return { left: at(x), right: at(y), scale };
}

/** Negative, zero or positive as a is less than, equal to or more than b, by value. */
export function compare(a: string, b: string): number {
  const { left, right } = aligned(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Whether `value` is a whole number of steps. A step of 0 divides nothing. */
export function isOnStep(value: string, step: string): boolean {
  const { left, right } = aligned(value, step);
  return right !== 0n && left % right === 0n;
}

/** a − b, exact, without zeros at its end. */
export function minus(a: string, b: string): string {
  const { left, right, scale } = aligned(a, b);
  const difference = left - right;
  const sign = difference < 0n ? '-' : '';
  const digits = (difference < 0n ? -difference : difference).toString().padStart(scale + 1, '0');
  if (scale === 0) return sign + digits;
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  return sign + digits.slice(0, -scale) + (fraction === '' ? '' : `.${fraction}`);
}
