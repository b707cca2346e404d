import type { TokenAccountRow } from '../../clickhouse/queries/states/token-accounts.ts';
import type { VenueAccountRow } from '../../clickhouse/queries/states/venue-accounts.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import type { VenueAccount } from '../../schemas/responses/coin/coin.ts';
import { timeOf } from '../../schemas/units.ts';
import { balanceOf } from '../figures/balances.ts';
import { ATTESTED_SOURCE } from '../figures/sources.ts';

/** A venue account as served (spec 2.4). */
export function venueAccountView(
  row: VenueAccountRow,
  balances: ReadonlyMap<string, TokenAccountRow>,
): VenueAccount {
  const { token_account: tokenAccount } = row;
  const shared = {
    assetClass: row.asset_class,
    assetMint: row.asset_mint,
    revoked: row.revoked === 1,
  };
  return row.kind === 'Local'
    ? { tokenAccount, kind: row.kind, ...shared, local: balanceOf(tokenAccount, balances.get(tokenAccount)) }
    : {
        tokenAccount,
        kind: row.kind,
        ...shared,
        remote: attestedEquity(row),
        bridgedOut: figure(row.bridged_out, 'chain:VenueAccount.bridged_out', timeOf(row.block_time)),
      };
}

/** The equity last attested, as old as the venue said; absent before the first attestation. */
export function attestedEquity(row: VenueAccountRow): Figure {
  return row.remote_asof === '0'
    ? absent(ATTESTED_SOURCE, `no attestation of ${row.token_account} yet`)
    : figure(row.remote_equity, ATTESTED_SOURCE, timeOf(row.remote_asof));
}
