import type { BegunPolicies } from '../../../clickhouse/queries/history/protocol.ts';
import { tagOf } from '../../http/answers/tagged-bytes.ts';
import { countBefore } from '../count-before.ts';

/** Of each quote asset: how many policies had begun before each of some ends. */
export interface BegunAt {
  policies: readonly { mint: string; counts: readonly number[] }[];
}

/** Which policies of all quote assets had begun before an end; empty where none had. */
export function whichBefore(policies: readonly BegunPolicies[], end: number): string {
  const begun = policies.flatMap(({ quote_mint, begun }) => {
    const last = begun[countBefore(begun, end) - 1];
    return last === undefined ? [] : [`${quote_mint} ${last.which}`];
  });
  return begun.length === 0 ? '' : tagOf(begun.join(' '));
}

/** How many policies of a quote asset had begun before an end, in hours since 1970. */
export function begunBefore({ begun }: BegunPolicies, end: number): number {
  return begun[countBefore(begun, end) - 1]?.total ?? 0;
}
