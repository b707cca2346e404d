/** Stands among what an incomplete transaction lacks where it may lack anything. */
export const ANYTHING = 'any';
/** Likewise, where an event of it came and does not decode: what that event was is not known. */
export const UNDECODED = 'undecoded';
/** Likewise, where nothing of it could be read but the accounts that it names. */
export const UNREADABLE = 'unreadable';

const ALL_OF_IT: ReadonlySet<string> = new Set([ANYTHING, UNDECODED, UNREADABLE]);

/** Whether a transaction of which `missing` is missing may lack an amount, named `<kind>.<amount>`. */
export function lacks(missing: readonly string[], amount: string): boolean {
  const [kind] = amount.split('.');
  return missing.some((what) => ALL_OF_IT.has(what) || what === kind || what === amount);
}

/** The amount that a derived sweep lacks: equity counts attested values, which no transaction carries. */
export const PROFIT = 'ProfitSwept.profit';
