import type { StoredPolicy } from '../../clickhouse/queries/states/policy.ts';
import type { TokenAccountRow } from '../../clickhouse/queries/states/token-accounts.ts';
import type { VenueAccountRow } from '../../clickhouse/queries/states/venue-accounts.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import type { VenueAccount } from '../../schemas/responses/coin/coin.ts';
import { timeOf } from '../../schemas/units.ts';
import { balanceIn, balanceOf, mintIn } from '../figures/balances.ts';
import { ATTESTED_SOURCE } from '../figures/sources.ts';
import type { View } from '../latest/view.ts';

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
  if (row.kind === 'Remote')
    return {
      tokenAccount,
      kind: row.kind,
      ...shared,
      remote: attestedEquity(row),
      bridgedOut: figure(row.bridged_out, 'chain:VenueAccount.bridged_out', timeOf(row.block_time)),
    };
  const local = balanceIn(row.asset_mint, tokenAccount, balances.get(tokenAccount));
  return { tokenAccount, kind: row.kind, ...shared, local };
}

/**
 * The Local balances, for a sum. Like the program it counts the quote asset, whatever an account is registered with.
 */
export const localBalances = (view: View, local: readonly VenueAccountRow[], quoteMint: string): Figure[] =>
  local.map(({ asset_mint: asset, token_account: address }) => {
    const row = view.get('tokenAccount', address);
    return row?.mint === quoteMint ? balanceOf(address, row) : balanceIn(asset, address, row);
  });

/** The token accounts that hold another asset than the quote: a sum must not count their balances as quote. */
export const localOfOtherAssets = (
  view: View,
  local: readonly VenueAccountRow[],
  quoteMint: string,
): string[] => local.filter((row) => heldMint(view, row) !== quoteMint).map(addressOf);

/**
 * The Local token accounts, revoked ones too, whose earlier balances may be of another asset than the quote: those that
 * hold another now, or are registered with one.
 */
export function localMaybeOfOtherAssets(view: View, { address, quote_mint }: StoredPolicy): string[] {
  const isQuote = (mint: string) => mint === quote_mint;
  return view
    .get('venueAccounts', address)
    .filter(({ kind }) => kind === 'Local')
    .filter((row) => !isQuote(row.asset_mint) || !isQuote(heldMint(view, row)))
    .map(addressOf);
}

const heldMint = (view: View, { asset_mint, token_account }: VenueAccountRow): string =>
  mintIn(asset_mint, view.get('tokenAccount', token_account));

const addressOf = ({ token_account }: VenueAccountRow): string => token_account;

export interface Unrevoked {
  local: VenueAccountRow[];
  remote: VenueAccountRow[];
  /** Why these are not all of the policy's unrevoked venue accounts; null where they are. */
  reason: string | null;
}

/** The venue accounts of a policy that count, compared with how many the policy says it has. */
export function unrevokedAccounts(view: View, { address, venue_count }: StoredPolicy): Unrevoked {
  const all = view.get('venueAccounts', address).filter(({ revoked }) => revoked === 0);
  return {
    local: all.filter(({ kind }) => kind === 'Local'),
    remote: all.filter(({ kind }) => kind === 'Remote'),
    reason: all.length === venue_count ? null : `${all.length} of ${venue_count} venue accounts are known`,
  };
}

/** The equity last attested, as old as the venue said; absent before the first attestation. */
export function attestedEquity(row: VenueAccountRow): Figure {
  return row.remote_asof === '0'
    ? absent(ATTESTED_SOURCE, `no attestation of ${row.token_account} yet`)
    : figure(row.remote_equity, ATTESTED_SOURCE, timeOf(row.remote_asof));
}
