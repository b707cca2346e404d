import type { Params } from '../../client.ts';

/** Some of what belongs to policies: by its own keys, or all of it that the policies of a stretch of addresses have. */
export type Which = readonly string[] | Stretch;

/** The addresses behind one, up to another. */
export interface Stretch {
  after: string;
  last: string;
}

/** Behind every address. */
const END = '~';

/** All addresses, so many of the known ones in each stretch. */
export function stretchesOf(addresses: Iterable<string>, each: number): Stretch[] {
  const ends = [...addresses].sort().filter((_, at) => at % each === each - 1);
  return [...ends, END].map((last, at) => ({ after: ends[at - 1] ?? '', last }));
}

interface Condition {
  sql: string;
  params: Params;
}

const of =
  (policyColumn: string) =>
  (column: string, which: Which): Condition =>
    'after' in which
      ? {
          sql: `${column} IN (SELECT ${policyColumn} FROM policies WHERE address > {after_address:String} AND address <= {last_address:String})`,
          params: { after_address: which.after, last_address: which.last },
        }
      : { sql: `${column} IN {keys:Array(String)}`, params: { keys: [...which] } };

/** The column holds mints of policies. */
export const amongMints = of('mint');
/** The column holds bankrolls of policies. */
export const amongBankrolls = of('bankroll');
