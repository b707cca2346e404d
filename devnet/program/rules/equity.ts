import { found, must } from '../errors.ts';
import { balanceOf, configOf, type InstructionRun, type Meta, readonly } from '../instruction-run.ts';
import { compareKeys } from '../state/keys.ts';
import { type Key, LOCAL, type Policy, type VenueAccount } from '../state/state.ts';

/** How far ahead of the chain's clock an attestation may be, in seconds. */
export const ASOF_SKEW_S = 120n;

/** An allowlist entry with its token account, as the caller supplies it. */
export interface VenuePair {
  entry: Key;
  tokenAccount: Key;
}

export function pairMetas(pairs: readonly VenuePair[]): Meta[] {
  return pairs.flatMap((pair) => [readonly(pair.entry), readonly(pair.tokenAccount)]);
}

/** Reads one attested number. @throws ProgramError FutureAsof, StaleRemoteEquity */
function attested(run: InstructionRun, venue: VenueAccount): bigint {
  const age = run.now - venue.remoteAsof;
  must(age >= -ASOF_SKEW_S, 'FutureAsof');
  const limit = configOf(run).maxRemoteStaleness;
  if (limit > 0n) must(age <= limit, 'StaleRemoteEquity');
  return venue.remoteEquity;
}

/**
 * What the policy has at venues. The caller supplies every registered account once, in strictly ascending order of
 * token accounts.
 * @throws ProgramError VenueSetIncomplete, VenueNotAllowed, WrongMint, FutureAsof, StaleRemoteEquity
 */
export function readDeployed(run: InstructionRun, policy: Policy, pairs: readonly VenuePair[]): bigint {
  must(pairs.length === policy.venueCount, 'VenueSetIncomplete');
  for (let at = 1; at < pairs.length; at += 1) {
    const [before, pair] = [found(pairs[at - 1]), found(pairs[at])];
    must(compareKeys(before.tokenAccount, pair.tokenAccount) < 0, 'VenueSetIncomplete');
  }
  let deployed = 0n;
  for (const pair of pairs) {
    must(pair.entry === run.addresses.venue(policy.address, pair.tokenAccount).address, 'VenueNotAllowed');
    const venue = found(run.draft.get('venues', pair.entry), 'VenueNotAllowed');
    must(venue.policy === policy.address && !venue.revoked, 'VenueNotAllowed');
    if (venue.kind === LOCAL) {
      must(run.draft.get('tokens', venue.tokenAccount)?.mint === policy.quoteMint, 'WrongMint');
      deployed += balanceOf(run, venue.tokenAccount);
    } else {
      deployed += attested(run, venue);
    }
  }
  return deployed;
}
