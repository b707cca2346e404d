import type { Store } from '../../client.ts';

/** A policy, or the venue account of a policy for a token account, that an event names and nobody has read yet. */
export interface UnreadAccount {
  policy: string;
  /** Empty: the policy itself. */
  token_account: string;
}

/** Some events are of no policy. */
const UNREAD = `
  SELECT DISTINCT policy, '' AS token_account FROM events
  WHERE policy != '' AND policy NOT IN (SELECT address FROM policies)
  UNION ALL
  SELECT DISTINCT policy, JSONExtractString(summary, 'tokenAccount') AS token_account FROM events
  WHERE kind = 'VenueRegistered'
    AND (policy, JSONExtractString(summary, 'tokenAccount')) NOT IN (SELECT policy, token_account FROM venue_accounts)`;

export const unreadAccounts = (store: Store): Promise<UnreadAccount[]> =>
  store.query<UnreadAccount>(UNREAD, {});

export async function unreadCount(store: Store): Promise<number> {
  const [row] = await store.query<{ count: number }>(
    `SELECT toUInt32(count()) AS count FROM (${UNREAD})`,
    {},
  );
  return row?.count ?? 0;
}
