import type { Store } from '../client.ts';

export interface VenueAccountRow {
  address: string;
  block_time: string | null;
  token_account: string;
  asset_mint: string;
  kind: 'Local' | 'Remote';
  asset_class: number;
  revoked: number;
  remote_equity: string;
  /** Unix seconds; '0' means never attested. */
  remote_asof: string;
  bridged_out: string;
}

/** The venue accounts of a policy, revoked ones included, by token account. */
export async function venueAccountsOf(store: Store, policy: string): Promise<VenueAccountRow[]> {
  return store.query<VenueAccountRow>(
    `SELECT address, block_time, token_account, asset_mint, kind, asset_class, revoked,
       remote_equity, remote_asof, bridged_out
     FROM venue_accounts FINAL
     WHERE policy = {policy:String} AND exists = 1
     ORDER BY token_account`,
    { policy },
  );
}
