import type { ClosingState } from '../../clickhouse/queries/history/closing-states.ts';
import type { CoinHistoryRows } from '../../clickhouse/queries/history/coin.ts';
import { HOUR_S, isoTime } from '../../schemas/units.ts';
import { countBefore } from './count-before.ts';
import type { Cover } from './cover.ts';

/** The state of an account at a moment, or why it is not known. */
export type StateAt = { row: ClosingState; reason: null } | { row: null; reason: string };

/** States of accounts at the ends of hours. */
export interface States {
  at(address: string, end: number): StateAt;
  /** Whether any state of the account before an end is known. */
  begun(address: string, end: number): boolean;
  /** The venue accounts that the policy had at some time. */
  venues: readonly string[];
}

export function createStates(
  { states, first }: Pick<CoinHistoryRows, 'states' | 'first'>,
  cover: Cover,
): States {
  const firsts = new Map(first.map((row) => [row.address, row]));
  const lastBefore = (address: string, end: number) => {
    const rows = states.get(address) ?? [];
    return rows[countBefore(rows, end) - 1];
  };
  const notBefore = (address: string): string => {
    const known = firsts.get(address);
    return known === undefined
      ? `nothing is known yet of ${address} over time`
      : `${address} is not known before the hour that ends at ${isoTime((known.hour + 1) * HOUR_S)}`;
  };
  const isVenue = ({ held_in }: ClosingState) => held_in === 'venue_accounts';
  return {
    venues: [...states].filter(([, rows]) => rows.some(isVenue)).map(([address]) => address),
    begun: (address, end) => lastBefore(address, end) !== undefined,
    at: (address, end) => {
      const row = lastBefore(address, end);
      if (row === undefined) return { row: null, reason: notBefore(address) };
      const reason = cover.lost(row, end);
      return reason === null ? { row, reason } : { row: null, reason };
    },
  };
}
