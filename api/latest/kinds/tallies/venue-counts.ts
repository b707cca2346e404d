import type { DifferingCount, VenueCount } from '../../../../clickhouse/queries/analytics/venue-counts.ts';

/** What is known of the venue accounts of a policy. */
export interface KnownAccounts {
  /** Those that are not revoked. */
  open: number;
  /** The newest slot of a state of them that the stream brought, of the revoked ones too. */
  streamed: bigint;
}

/**
 * The policies that have another number of venue accounts than is known of them. One of which that is so for longer
 * keeps its slot, however often it is written meanwhile.
 */
export function differingCounts(
  counts: Iterable<VenueCount>,
  accountsOf: (policy: string) => KnownAccounts | undefined,
  before: ReadonlyMap<string, DifferingCount>,
): Map<string, DifferingCount> {
  const differing = new Map<string, DifferingCount>();
  for (const { address: policy, venue_count: counted, streamed } of counts) {
    const accounts = accountsOf(policy);
    const known = accounts?.open ?? 0;
    if (known === counted) continue;
    const newest = higher(BigInt(streamed), accounts?.streamed ?? 0n);
    const was = before.get(policy);
    const isSame = was?.known === known && was.counted === counted;
    const since = isSame && BigInt(was.since) < newest ? was.since : newest.toString();
    differing.set(policy, { policy, known, counted, since });
  }
  return differing;
}

/** That which may no longer be under way before any other. */
export function firstOf(differing: ReadonlyMap<string, DifferingCount>): DifferingCount | null {
  let first: DifferingCount | null = null;
  for (const one of differing.values()) if (first === null || isBefore(one, first)) first = one;
  return first;
}

function isBefore(one: DifferingCount, other: DifferingCount): boolean {
  const [since, otherSince] = [BigInt(one.since), BigInt(other.since)];
  return since < otherSince || (since === otherSince && one.policy < other.policy);
}

export const higher = (a: bigint, b: bigint) => (a > b ? a : b);
