/** What an incomplete transaction may lack, where that is everything. */
export const ANYTHING = 'any';
/** An event of it came and does not decode: what it was cannot be told. */
export const UNDECODED = 'undecoded';
/** It could not be read at all, but for the accounts that it is about. */
export const UNREADABLE = 'unreadable';

const ALL_OF_IT: ReadonlySet<string> = new Set([ANYTHING, UNDECODED, UNREADABLE]);

/** Whether what is missing of a transaction may be an amount, named `<kind>.<amount>`. */
export function lacks(missing: readonly string[], amount: string): boolean {
  const [kind] = amount.split('.');
  return missing.some((what) => ALL_OF_IT.has(what) || what === kind || what === amount);
}

/** Of a sweep that is known by its legs: equity counts attested values, which no transaction carries. */
export const PROFIT = 'ProfitSwept.profit';
