import { ZERO_KEY } from '../../../devnet/program/state/keys.ts';
import { LOCAL, type Policy, type VenueAccount } from '../../../devnet/program/state/state.ts';
import type { CoinResponse } from '../../../schemas/responses/coin/coin.ts';
import {
  type Answer,
  absent,
  anything,
  balance,
  type Figure,
  figure,
  iso,
  Matching,
  readAt,
  text,
} from './expected.ts';
import { marketCapBlock } from './market-cap.ts';
import { decimalsOf, metadataOf, modelBlock, quoteBlock } from './names.ts';
import type { View } from './view.ts';

/** The venue accounts of a policy, by token account. */
export function venuesOf({ state }: View, policy: Policy): VenueAccount[] {
  return [...state.venues.values()]
    .filter((venue) => venue.policy === policy.address)
    .sort((a, b) => (a.tokenAccount < b.tokenAccount ? -1 : 1));
}

/** The equity last attested, as old as the venue said. */
export function attested(venue: VenueAccount): Figure {
  return venue.remoteAsof === 0n ? absent(text) : figure(venue.remoteEquity, text, iso(venue.remoteAsof));
}

/** Local venue accounts of another asset than the quote. On this chain each keeps the asset it was registered with. */
export const ofOtherAssets = (venues: readonly VenueAccount[], { quoteMint }: Policy): string[] =>
  venues
    .filter(({ kind, assetMint }) => kind === LOCAL && assetMint !== quoteMint)
    .map(({ tokenAccount }) => tokenAccount);

/** A member that an answer has only where there are keys. */
export const named = (name: string, keys: readonly string[]): object =>
  keys.length === 0 ? {} : { [name]: keys };

function venueAccount(view: View, venue: VenueAccount): object {
  const { tokenAccount, assetClass, assetMint, revoked } = venue;
  const shared = { tokenAccount, assetClass, assetMint, revoked };
  if (venue.kind === LOCAL) return { ...shared, kind: 'Local', local: balance(view, tokenAccount) };
  const bridgedOut = figure(venue.bridgedOut, 'chain:VenueAccount.bridged_out', readAt(view, venue.address));
  return { ...shared, kind: 'Remote', remote: attested(venue), bridgedOut };
}

/**
 * The signature of the policy's newest transaction of the program, or of a later one of another program that names the
 * account writable. Such a transaction sends the state again under its own signature. The stream shows that and RPC
 * does not, and some of them may fall in a gap of the stream: any is accepted.
 */
function lastSignature(view: View, policy: Policy): Matching {
  const own = view.lastTransaction(policy);
  const sent = own === undefined ? view.state.lastWrite(policy.address) : null;
  const accepted = [own?.signature ?? sent?.signature, ...view.mentionedSince(policy)];
  return new Matching(`one of ${accepted}`, (value) => typeof value === 'string' && accepted.includes(value));
}

/** `GET /coins/:mint` */
export function coin(view: View, policy: Policy): Answer<CoinResponse> {
  const { chain, state, config } = view;
  const at = chain.addresses.ofPolicy(policy.mint);
  const origin = state.origins.get(policy.origin);
  const named = metadataOf(view, policy.mint);
  const counter = (value: bigint) => figure(value, 'chain:Policy account', readAt(view, policy.address));
  const quoteDecimals = decimalsOf(view, policy.quoteMint);
  const held = (kind: string, tokenAccount: string, decimals: number | null) => {
    return { kind, tokenAccount, balance: balance(view, tokenAccount), decimals };
  };
  return {
    mint: policy.mint,
    name: named?.metadata.name ?? null,
    symbol: named?.metadata.symbol ?? null,
    imageUrl: view.polled ? anything : null,
    metadataUri: named?.metadata.uri ?? null,
    metadataAsOf: named === null ? null : readAt(view, named.holder),
    quoteMint: policy.quoteMint,
    quote: quoteBlock(view, policy.quoteMint),
    feeKeyMint: policy.feeKeyMint,
    lastIndexedSignature: lastSignature(view, policy),
    updatedAt: readAt(view, policy.address),
    marketCap: marketCapBlock(view, policy),
    authority: policy.authority,
    agent: policy.agent === ZERO_KEY ? null : policy.agent,
    guardian: policy.guardian,
    origin: {
      pubkey: policy.origin,
      name: origin?.name,
      assetClassMask: origin?.assetClassMask,
      maxRisk: origin?.maxRisk,
    },
    mode: policy.mode === 0 ? 'Passive' : 'Agent',
    model: modelBlock(view, policy),
    feeSplit: { toLpBps: policy.toLpBps, toBankrollBps: policy.toBankrollBps },
    profitSplit: {
      toLpBps: policy.profitToLpBps,
      toHoldersBps: policy.profitToHoldersBps,
      toBankrollBps: policy.profitToBankrollBps,
    },
    risk: policy.risk,
    targetAsset: policy.targetAsset,
    targetLeverageX: policy.targetLeverageX,
    locked: policy.locked,
    paused: policy.paused,
    protocolPaused: config.paused,
    moneyPathsFrozen: policy.paused || config.paused,
    counters: {
      feesClaimedQuote: counter(policy.feesClaimed),
      protocolFees: counter(policy.protocolFees),
      routedToLp: counter(policy.routedToLp),
      routedToBankroll: counter(policy.routedToBankroll),
      profitSwept: counter(policy.profitSwept),
      paidToHolders: counter(policy.paidToHolders),
      tokensBurned: counter(policy.tokensBurned),
      creditSpent: counter(policy.creditSpent),
    },
    hwm: counter(policy.hwm),
    venueAccounts: venuesOf(view, policy).map((venue) => venueAccount(view, venue)),
    pdaBalances: [
      held('bankroll', at.bankroll, quoteDecimals),
      held('quote_escrow', at.quoteEscrow, quoteDecimals),
      held('base_escrow', at.baseEscrow, decimalsOf(view, policy.mint)),
      held('holder_rewards', at.holderRewards, quoteDecimals),
    ],
  };
}
