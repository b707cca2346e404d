/** What an incomplete transaction may lack, where that is everything. */
export const ANYTHING = 'any';
/** An event of it came and does not decode: what it was cannot be told. */
export const UNDECODED = 'undecoded';

/** Whether what is missing of a transaction may be an amount, named `<kind>.<amount>`. */
export function lacks(missing: readonly string[], amount: string): boolean {
  const [kind] = amount.split('.');
  return missing.some((what) => what === ANYTHING || what === UNDECODED || what === kind || what === amount);
}
