import type { Params } from '../../client.ts';
import { END } from '../../in-order.ts';

/** Some of what belongs to policies: by its own keys, or all of it that the policies of a range of addresses have. */
export type PolicySelection = readonly string[] | AddressRange;

/** The addresses behind one, up to another. */
export interface AddressRange {
  after: string;
  last: string;
}

/** The ranges between these addresses, which stand in order. */
export const addressRangesBetween = (ends: readonly string[]): AddressRange[] =>
  [...ends, END].map((last, at) => ({ after: ends[at - 1] ?? '', last }));

/** All addresses, so many of the known ones in each range. */
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

/** Addresses of policies. */
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

/** The column holds mints of policies. */
export const amongMints = of('mint');
/** The column holds quote escrows of policies. */
export const amongEscrows = of('quote_escrow');
/** The column holds bankrolls of policies. */
export const amongBankrolls = of('bankroll');

/** Whoever has all of a range in one order finds what belongs together side by side. */
export const byMint = (column: string, selection: PolicySelection): string =>
  'after' in selection ? `ORDER BY ${column}` : '';
