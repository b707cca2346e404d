import type { BegunPolicies } from '../../../clickhouse/queries/history/protocol.ts';
import { countBefore } from '../count-before.ts';

/** Of each quote asset: how many policies had begun before each of some ends. */
export interface BegunAt {
  policies: readonly { mint: string; counts: readonly number[] }[];
}

/** How many policies of a quote asset had begun before an end, in hours since 1970. */
export function begunBefore({ begun }: BegunPolicies, end: number): number {
  return begun[countBefore(begun, end) - 1]?.total ?? 0;
}
