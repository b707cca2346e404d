import type { Store } from '../../client.ts';

/** How many venue accounts a policy says that it has. */
export interface VenueCount {
  address: string;
  venue_count: number;
  /** The slot of the policy's state, where the stream brought it; else '0'. */
  streamed: string;
}

/** A policy of which another number of venue accounts is known than it has. */
export interface DifferingCount {
  policy: string;
  known: number;
  counted: number;
  /**
   * The newest slot of a state that the stream brought of it or of one of its accounts: until all of that slot is
   * applied, what goes with it may be still to come. '0' where what is known was read otherwise.
   */
  since: string;
}

export const STREAMED = "if(source = 'stream', slot, 0)";

/** Of these policies, those that are there. @param policies null: of all that have a venue account, or say so */
export const venueCounts = (store: Store, policies: readonly string[] | null): Promise<VenueCount[]> =>
  store.query(
    `SELECT address, venue_count, toString(${STREAMED}) AS streamed
     FROM policies FINAL
     WHERE exists = 1 AND ${
       policies === null
         ? '(venue_count > 0 OR address IN (SELECT policy FROM venue_accounts_by_policy))'
         : 'address IN {policies:Array(String)}'
     }`,
    { policies: policies ?? [] },
  );

/** The first of them; null where there is none. */
export async function differingCount(store: Store): Promise<DifferingCount | null> {
  const [row] = await store.query<DifferingCount>(
    `SELECT p.address AS policy, toUInt32(a.known) AS known, p.venue_count AS counted,
       toString(greatest(p.streamed, a.streamed)) AS since
     FROM (SELECT address, venue_count, ${STREAMED} AS streamed FROM policies FINAL WHERE exists = 1) AS p
     LEFT JOIN (SELECT policy, countIf(exists = 1 AND revoked = 0) AS known, max(${STREAMED}) AS streamed
                FROM venue_accounts FINAL GROUP BY policy) AS a ON a.policy = p.address
     WHERE a.known != p.venue_count
     ORDER BY greatest(p.streamed, a.streamed), policy
     LIMIT 1`,
  );
  return row ?? null;
}
