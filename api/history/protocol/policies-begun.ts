import type { BegunPolicies } from '../../../clickhouse/queries/history/protocol.ts';
import type { NamedQuote } from '../../figures/quotes.ts';
import { tagOf } from '../../http/answers/tagged-bytes.ts';
import type { SizedPart } from '../../latest/memos/answer-parts.ts';
import { countBefore } from '../count-before.ts';

/** For each quote asset with policies by then: its name, and how many policies had begun before each of some ends. */
export interface BegunAt extends SizedPart {
  /** The first of these ends. */
  first: number;
  policies: readonly { mint: string; name: NamedQuote; counts: readonly number[] }[];
  /** Equal only where all of this is equal, and the policies are the same ones. */
  tag: string;
}

/** @param names of all quote assets, by mint */
export function begunAt(
  policies: readonly BegunPolicies[],
  ends: readonly number[],
  names: ReadonlyMap<string, NamedQuote>,
): BegunAt {
  const last = ends.at(-1) ?? 0;
  const begun = policies
    .filter((row) => begunBefore(row, last) > 0)
    .map((row) => ({
      mint: row.quote_mint,
      name: names.get(row.quote_mint) as NamedQuote,
      counts: ends.map((end) => begunBefore(row, end)),
    }));
  const text = JSON.stringify(begun);
  const tag = tagOf(text, whichBefore(policies, last));
  return { first: ends[0] ?? 0, policies: begun, tag, memoryBytes: 2 * text.length };
}

/** A tag of which policies, of all quote assets, had begun before an end; empty where none had. */
export function whichBefore(policies: readonly BegunPolicies[], end: number): string {
  const begun = policies.flatMap(({ quote_mint, begun }) => {
    const last = begun[countBefore(begun, end) - 1];
    return last === undefined ? [] : [`${quote_mint} ${last.which}`];
  });
  return begun.length === 0 ? '' : tagOf(begun.join(' '));
}

/** How many policies of a quote asset had begun before an end, in hours since 1970. */
function begunBefore({ begun }: BegunPolicies, end: number): number {
  return begun[countBefore(begun, end) - 1]?.total ?? 0;
}
