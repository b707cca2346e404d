import type { Params } from '../../client.ts';
import { AFTER_ALL_KEYS } from '../../in-order.ts';

/** Selects rows that belong to policies: by the rows' own keys, or all rows of the policies in a range of addresses. */
export type PolicySelection = readonly string[] | AddressRange;

/** The addresses behind one, up to another. */
export interface AddressRange {
  after: string;
  last: string;
}

/** The ranges between these addresses, which stand in order. */
export const addressRangesBetween = (ends: readonly string[]): AddressRange[] =>
  [...ends, AFTER_ALL_KEYS].map((last, at) => ({ after: ends[at - 1] ?? '', last }));

/** Ranges that cover all addresses, each with `each` of the known ones. */
export function addressRangesOf(addresses: Iterable<string>, each: number): AddressRange[] {
  return addressRangesBetween([...addresses].sort().filter((_, at) => at % each === each - 1));
}

interface Condition {
  sql: string;
  params: Params;
}

const inRange = 'address > {after_address:String} AND address <= {last_address:String}';
const rangeParams = ({ after, last }: AddressRange): Params => ({ after_address: after, last_address: last });
const keysParams = (keys: readonly string[]): Params => ({ keys: [...keys] });

/** The condition that `address` is that of a selected policy. */
export const amongPolicies = (selection: PolicySelection): Condition =>
  'after' in selection
    ? { sql: inRange, params: rangeParams(selection) }
    : { sql: 'address IN {keys:Array(String)}', params: keysParams(selection) };

const of =
  (policyColumn: string) =>
  (column: string, selection: PolicySelection): Condition =>
    'after' in selection
      ? {
          sql: `${column} IN (SELECT ${policyColumn} FROM policies WHERE ${inRange})`,
          params: rangeParams(selection),
        }
      : { sql: `${column} IN {keys:Array(String)}`, params: keysParams(selection) };

/** The condition that a column holds the mint of a selected policy. */
export const amongMints = of('mint');
/** The condition that a column holds the quote escrow of a selected policy. */
export const amongEscrows = of('quote_escrow');
/** The condition that a column holds the bankroll of a selected policy. */
export const amongBankrolls = of('bankroll');

/** Rows of a range come in one order, so that rows of several questions that belong together are found side by side. */
export const byMint = (column: string, selection: PolicySelection): string =>
  'after' in selection ? `ORDER BY ${column}` : '';
