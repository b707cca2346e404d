import type { ClosingState } from '../../clickhouse/queries/history/closing-states.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import { timeOf } from '../../schemas/units.ts';
import { BALANCE_SOURCE, balanceOf, sumOf } from '../figures/balances.ts';
import { ATTESTED_SOURCE } from '../figures/sources.ts';
import type { States } from './states.ts';

export interface AtVenues {
  deployed: Figure;
  attestedEquity: Figure;
}

export const DEPLOYED_SOURCE = 'computed';

/** A balance at the end of an hour. */
export function balanceAt(states: States, address: string, end: number): Figure {
  const { row, reason } = states.at(address, end);
  return row === null ? absent(BALANCE_SOURCE, reason) : balanceOf(address, row);
}

/** What a policy had at venues at the end of an hour. */
export function atVenues(states: States, policy: ClosingState, end: number): AtVenues {
  const unrevoked: ClosingState[] = [];
  for (const address of states.venues) {
    if (!states.begun(address, end)) continue;
    const { row, reason } = states.at(address, end);
    if (row === null) return venuesUnknown(reason);
    if (row.exists === 1 && row.revoked === 0) unrevoked.push(row);
  }
  if (unrevoked.length !== policy.venue_count)
    return venuesUnknown(
      `${unrevoked.length} of ${policy.venue_count} venue accounts are known of that moment`,
    );
  const asOf = timeOf(policy.block_time);
  const local = unrevoked
    .filter(({ kind }) => kind === 'Local')
    .map(({ token_account }) => balanceAt(states, token_account, end));
  const remote = unrevoked.filter(({ kind }) => kind === 'Remote').map(attestedAt);
  return venueSums(local, remote, asOf);
}

export const venuesUnknown = (reason: string): AtVenues => ({
  deployed: absent(DEPLOYED_SOURCE, reason),
  attestedEquity: absent(ATTESTED_SOURCE, reason),
});

export function venueSums(
  local: readonly Figure[],
  remote: readonly Figure[],
  asOf: string | null,
): AtVenues {
  return {
    deployed: sumOf([...local, ...remote], DEPLOYED_SOURCE, asOf),
    attestedEquity: sumOf(remote, ATTESTED_SOURCE, asOf),
  };
}

function attestedAt({ remote_asof, remote_equity, token_account }: ClosingState): Figure {
  return String(remote_asof) === '0'
    ? absent(ATTESTED_SOURCE, `no attestation of ${token_account} yet`)
    : figure(remote_equity, ATTESTED_SOURCE, timeOf(String(remote_asof)));
}
