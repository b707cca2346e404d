import { type AccountColumns, columnList } from '../../../schemas/program/account-fields.ts';
import { inOrder, keyWithin } from '../../in-order.ts';
import { sharedLookup } from '../../shared-reads.ts';
import type { ReadState } from '../../tables.ts';

export type VenueAccountRow = AccountColumns<'VenueAccount'> &
  Pick<ReadState<'venue_accounts'>, 'address' | 'block_time'>;

/** The venue accounts of these policies, revoked ones included, by policy; those of one in order of token account. */
export const venueAccountsOf = sharedLookup<VenueAccountRow>('policy', (store, policies) =>
  store.query(
    `SELECT address, block_time, ${columnList('VenueAccount')}
     FROM venue_accounts FINAL
     WHERE address IN (
         SELECT v.address FROM venue_accounts_by_policy AS v WHERE v.policy IN {policies:Array(String)})
       AND policy IN {policies:Array(String)} AND exists = 1
     ORDER BY token_account`,
    { policies },
  ),
);

export const venueAccountsInOrder = inOrder(
  `SELECT policy AS key, address, block_time, ${columnList('VenueAccount')}
   FROM venue_accounts FINAL
   WHERE ${keyWithin('policy')} AND exists = 1
   ORDER BY policy, token_account
   LIMIT {most:UInt32}`,
);
