import type { Params } from '../../client.ts';

/** Some of what belongs to policies: by its own keys, or all of it that the policies of a stretch of addresses have. */
export type PolicySelection = readonly string[] | Stretch;

/** The addresses behind one, up to another. */
export interface Stretch {
  after: string;
  last: string;
}

/** Behind every address. */
const END = '~';

/** The stretches between these addresses, which stand in order. */
export const stretchesBetween = (ends: readonly string[]): Stretch[] =>
  [...ends, END].map((last, at) => ({ after: ends[at - 1] ?? '', last }));

/** All addresses, so many of the known ones in each stretch. */
export function stretchesOf(addresses: Iterable<string>, each: number): Stretch[] {
  return stretchesBetween([...addresses].sort().filter((_, at) => at % each === each - 1));
}

interface Condition {
  sql: string;
  params: Params;
}

const inStretch = 'address > {after_address:String} AND address <= {last_address:String}';
const stretchParams = ({ after, last }: Stretch): Params => ({ after_address: after, last_address: last });
const keysParams = (keys: readonly string[]): Params => ({ keys: [...keys] });

/** Addresses of policies. */
export const amongPolicies = (selection: PolicySelection): Condition =>
  'after' in selection
    ? { sql: inStretch, params: stretchParams(selection) }
    : { sql: 'address IN {keys:Array(String)}', params: keysParams(selection) };

const of =
  (policyColumn: string) =>
  (column: string, selection: PolicySelection): Condition =>
    'after' in selection
      ? {
          sql: `${column} IN (SELECT ${policyColumn} FROM policies WHERE ${inStretch})`,
          params: stretchParams(selection),
        }
      : { sql: `${column} IN {keys:Array(String)}`, params: keysParams(selection) };

/** The column holds mints of policies. */
export const amongMints = of('mint');
/** The column holds quote escrows of policies. */
export const amongEscrows = of('quote_escrow');
/** The column holds bankrolls of policies. */
export const amongBankrolls = of('bankroll');

/** Whoever has all of a stretch in one order finds what belongs together side by side. */
export const byMint = (column: string, selection: PolicySelection): string =>
  'after' in selection ? `ORDER BY ${column}` : '';
