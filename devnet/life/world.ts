import type { Chain, ChainState } from '../chain/chain.ts';
import type { VenuePair } from '../program/rules/equity.ts';
import { compareKeys } from '../program/state/keys.ts';
import type { Random } from '../program/state/random.ts';
import { type Key, type Policy, REMOTE, type VenueAccount } from '../program/state/state.ts';
import type { Profile } from './profile.ts';
import type { officials } from './setup.ts';

/** What a choice is made from: the state at the tip, and the random numbers of the coming slot. */
export interface World {
  chain: Chain;
  state: ChainState;
  random: Random;
  seed: string;
  /** Unix seconds of the coming slot, or a little before it. */
  now: bigint;
  who: ReturnType<typeof officials>;
  venuesOf(policy: Key): readonly VenueAccount[];
  /** Whether the protocol's parameters stay as they are deployed, whatever its admin writes. */
  keepsParams: boolean;
  /** Money that reports of the coming slot count as arrived, by token account; the state does not have it yet. */
  counted: Map<Key, bigint>;
}

/** The policy that a choice is about, with its profile and venue accounts. */
export interface Subject {
  policy: Policy;
  profile: Profile;
  /** One whole quote token, in base units. */
  unit: bigint;
  venues: readonly VenueAccount[];
}

/** Registered accounts that are not revoked, in the order that the program requires. */
export function livePairs(venues: readonly VenueAccount[]): VenuePair[] {
  return venues
    .filter((venue) => !venue.revoked)
    .map((venue) => ({ entry: venue.address, tokenAccount: venue.tokenAccount }))
    .sort((left, right) => compareKeys(left.tokenAccount, right.tokenAccount));
}

export function liveRemotes(venues: readonly VenueAccount[]): VenueAccount[] {
  return venues.filter((venue) => venue.kind === REMOTE && !venue.revoked);
}

export function held(world: World, address: Key): bigint {
  return world.state.tokens.get(address)?.amount ?? 0n;
}

/** Keeps lists of each policy's venue accounts, in the order of their token accounts; remade as accounts are added. */
export function createVenueLists(): (state: ChainState) => (policy: Key) => readonly VenueAccount[] {
  let counted = -1;
  const addresses = new Map<Key, Key[]>();
  return (state) => {
    if (state.venues.size !== counted) {
      counted = state.venues.size;
      addresses.clear();
      const sorted = [...state.venues.values()].sort((left, right) =>
        left.tokenAccount < right.tokenAccount ? -1 : 1,
      );
      for (const venue of sorted) {
        addresses.set(venue.policy, [...(addresses.get(venue.policy) ?? []), venue.address]);
      }
    }
    return (policy) =>
      (addresses.get(policy) ?? []).flatMap((address) => {
        const venue = state.venues.get(address);
        return venue === undefined ? [] : [venue];
      });
  };
}
