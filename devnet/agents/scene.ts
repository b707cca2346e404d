import type { Chain } from '../chain/chain.ts';
import { profileOf } from '../life/profile.ts';
import type { Random } from '../program/state/random.ts';
import { type Key, LOCAL, type Policy, type VenueAccount } from '../program/state/state.ts';

/** What an agent looks at before it writes: its policy as it stands after what just happened. */
export interface Scene {
  policy: Policy;
  /** The venue account that the event names; null where there is no event, it names none, or the account is gone. */
  venue: VenueAccount | null;
  /** Equity of the venue account at the report before this one; null where there was none. */
  before: bigint | null;
  /** Money sent to the account that has arrived since that report. */
  arrived: bigint;
  bankroll: bigint;
  /** Money at venues, on chain and attested, and on its way there. */
  deployed: bigint;
  unit: Unit;
  random: Random;
}

export interface Unit {
  decimals: number;
  symbol: string;
}

const PLACES = 4;

/** An amount in whole tokens, cut to a few places. */
export function amountText(amount: bigint, { decimals, symbol }: Unit): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',');
  const fraction = digits
    .slice(digits.length - decimals)
    .slice(0, PLACES)
    .replace(/0+$/, '');
  const nothing = whole === '0' && fraction === '' && amount > 0n;
  return `${nothing ? 'less than 0.0001' : `${whole}${fraction === '' ? '' : `.${fraction}`}`} ${symbol}`;
}

/** A part of a whole in per cent, with one place where it is small. */
export function percentText(part: bigint, whole: bigint): string {
  if (whole === 0n) return '0%';
  const tenths = (part * 1000n) / whole;
  return tenths >= 100n || tenths % 10n === 0n ? `${tenths / 10n}%` : `${tenths / 10n}.${tenths % 10n}%`;
}

/** What a policy has in its vault and at venues now. */
export function holdings(chain: Chain, policy: Policy): { bankroll: bigint; deployed: bigint } {
  const state = chain.state();
  const amountAt = (account: Key) => state.tokens.get(account)?.amount ?? 0n;
  let deployed = 0n;
  for (const venue of state.venues.values()) {
    if (venue.policy !== policy.address || venue.revoked) continue;
    deployed += amountAt(venue.tokenAccount) + (venue.kind === LOCAL ? 0n : venue.remoteEquity);
  }
  return { bankroll: amountAt(chain.addresses.ofPolicy(policy.mint).bankroll), deployed };
}

/** How much of the money that was sent to a remote account its reports already count. */
export function arrivedAt(chain: Chain, { bridgedOut, tokenAccount }: VenueAccount): bigint {
  return bridgedOut - (chain.state().tokens.get(tokenAccount)?.amount ?? 0n);
}

/** How the quote asset of a world's n-th policy is written: by symbol, or by its mint's start if nothing names it. */
export function unitOf(seed: string, number: number): Unit {
  const { decimals, symbol, metadataIn, category, mint } = profileOf(seed, number, '').quote;
  const isNamed = metadataIn !== 'nowhere' || category !== null;
  return { decimals, symbol: isNamed ? symbol : `${mint.slice(0, 4)}…` };
}
