import { sharedLookup } from '../shared-reads.ts';

export interface VenueAccountRow {
  policy: string;
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

/** The venue accounts of these policies, revoked ones included, by policy; those of one by token account. */
export const venueAccountsOf = sharedLookup<VenueAccountRow>('policy', (store, policies) =>
  store.query(
    `SELECT policy, address, block_time, token_account, asset_mint, kind, asset_class, revoked,
       remote_equity, remote_asof, bridged_out
     FROM venue_accounts FINAL
     WHERE policy IN {policies:Array(String)} AND exists = 1
     ORDER BY token_account`,
    { policies },
  ),
);
