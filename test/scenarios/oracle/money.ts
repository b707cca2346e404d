import { LOCAL, type Policy, REMOTE } from '../../../devnet/program/state/state.ts';
import { attested, named, ofOtherAssets, venuesOf } from './coin.ts';
import {
  absent,
  anything,
  balance,
  between,
  eventSum,
  type Figure,
  figure,
  iso,
  readAt,
  readOf,
  text,
} from './expected.ts';
import { hasEquity, venueOf } from './venues.ts';
import { lastDay, ofKind, type View } from './view.ts';

const CLAIMS = 'indexer:fee_claims events';
const RECENT_CLAIMS = 100;
const FUTURE_S = 120;

/** `GET /coins/:mint/positions` */
export function positions(view: View, policy: Policy): object {
  const limit = view.config.maxRemoteStaleness;
  const live = venuesOf(view, policy).filter(({ kind, revoked }) => kind === REMOTE && !revoked);
  return {
    mint: policy.mint,
    positions: live.map((venue) => {
      const age = venue.remoteAsof === 0n ? null : view.now - Number(venue.remoteAsof);
      const stale = age === null || limit === 0n ? null : age > Number(limit) || age < -FUTURE_S;
      const isPolled = view.polled && hasEquity(venue.assetClass);
      return {
        venueAccount: venue.tokenAccount,
        venueAccountPda: venue.address,
        assetClass: venue.assetClass,
        assetMint: venue.assetMint,
        venue: venueOf(venue.assetClass),
        onChainAttestation: { equity: attested(venue), ageSeconds: age, stale },
        livePollerReading: isPolled ? anything : absent('venue poller'),
      };
    }),
  };
}

/** `GET /coins/:mint/fees` */
export function fees(view: View, policy: Policy): object {
  const claims = ofKind(view.eventsOf(policy.mint), 'FeesClaimed');
  const day = lastDay(view, claims);
  return {
    mint: policy.mint,
    quoteLeg: {
      lifetime: figure(policy.feesClaimed, 'chain:Policy.fees_claimed', readAt(view, policy.address)),
      lifetimeFromEvents: eventSum(view, claims, 'quoteAmount', CLAIMS),
      last24h: eventSum(view, day, 'quoteAmount', CLAIMS),
    },
    baseLeg: {
      note: text,
      lifetime: eventSum(view, claims, 'baseAmount', CLAIMS),
      last24h: eventSum(view, day, 'baseAmount', CLAIMS),
    },
    claimCount: { lifetime: claims.length, last24h: day.length },
    recentClaims: claims
      .slice(-RECENT_CLAIMS)
      .reverse()
      .map(({ signature, slot, blockTime, fields }) => ({
        signature,
        slot: String(slot),
        block_time: iso(blockTime),
        quoteAmount: String(fields.quoteAmount),
        baseAmount: String(fields.baseAmount),
      })),
  };
}

/** The sum of amounts, as old as the oldest of them; absent where any of them is. */
function sumOf(view: View, parts: readonly Figure[], source: unknown, asOf: unknown): Figure {
  if (parts.some((part) => part.absent)) return absent(source);
  const sum = parts.reduce((total, part) => total + BigInt(part.value as string), 0n);
  return figure(sum, source, parts.length === 0 ? between(0, view.now) : asOf);
}

/** `GET /coins/:mint/loop` */
export function loop(view: View, policy: Policy): object {
  const events = view.eventsOf(policy.mint);
  const claimed = ofKind(events, 'FeesClaimed');
  const routed = ofKind(events, 'Routed');
  const swept = ofKind(events, 'ProfitSwept');
  const bought = ofKind(events, 'BuybackBurned');
  const venues = venuesOf(view, policy).filter(({ revoked }) => !revoked);
  const local = venues.filter(({ kind }) => kind === LOCAL);
  const remote = venues.filter(({ kind }) => kind === REMOTE);
  const oldestAsof = remote.map(({ remoteAsof }) => Number(remoteAsof));
  const counter = (value: bigint, field: string) =>
    figure(value, `chain:Policy.${field}`, readAt(view, policy.address));
  const millionths = policy.creditSpent === 0n ? 0n : (policy.profitSwept * 10n ** 6n) / policy.creditSpent;
  const ratio = `${millionths / 10n ** 6n}.${String(millionths % 10n ** 6n).padStart(6, '0')}`;
  return {
    mint: policy.mint,
    step1_feesClaimed: {
      quoteLeg: eventSum(view, claimed, 'quoteAmount', CLAIMS),
      baseLeg: eventSum(view, claimed, 'baseAmount', CLAIMS),
    },
    step2_routed: {
      protocolCut: eventSum(view, routed, 'protocolCut'),
      toLp: eventSum(view, routed, 'toLp'),
      toBankroll: eventSum(view, routed, 'toBankroll'),
    },
    step3_lpCompounded: absent(text),
    step4_deployed: {
      local: sumOf(
        view,
        local.map(({ tokenAccount }) => balance(view, tokenAccount)),
        'chain:getTokenAccountBalance',
        readOf(
          view,
          local.map(({ tokenAccount }) => tokenAccount),
        ),
      ),
      remote: sumOf(
        view,
        remote.map(attested),
        text,
        remote.length === 0 ? null : iso(Math.min(...oldestAsof)),
      ),
      bankrollUnspent: balance(view, view.chain.addresses.ofPolicy(policy.mint).bankroll),
      ...named('localOfOtherAssets', ofOtherAssets(local, policy)),
    },
    step5_profit: {
      hwm: counter(policy.hwm, 'hwm'),
      totalSwept: counter(policy.profitSwept, 'profit_swept'),
      toHoldersStaged: eventSum(view, swept, 'toHolders'),
      toLpFromProfit: eventSum(view, swept, 'toLp'),
    },
    step6_buyback: { spent: eventSum(view, bought, 'spent'), burned: eventSum(view, bought, 'burned') },
    credit: {
      spent: counter(policy.creditSpent, 'credit_spent'),
      returnPerCredit:
        policy.creditSpent === 0n
          ? absent('computed')
          : figure(ratio, 'computed', readAt(view, policy.address)),
    },
  };
}

/** `GET /coins/:mint/holders` */
export function holders(view: View, policy: Policy): object {
  const asOf = readAt(view, policy.address);
  return {
    mint: policy.mint,
    tokensBurned: figure(policy.tokensBurned, 'chain:Policy.tokens_burned', asOf),
    paidToHoldersQuote: figure(policy.paidToHolders, 'chain:Policy.paid_to_holders', asOf),
    paysHolders: policy.profitToHoldersBps > 0,
    distribution: absent(text),
  };
}
