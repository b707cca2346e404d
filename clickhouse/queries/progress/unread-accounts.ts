import { TOKEN_ACCOUNTS } from '../../../schemas/program/stored-summary.ts';
import type { Store } from '../../client.ts';
import { inPieces } from '../../key-pieces.ts';
import type { NamedAccountRow } from '../../progress-tables.ts';

/** A policy, or the venue account of a policy for a token account, that an event names and that was not read yet. */
export type UnreadAccount = Omit<NamedAccountRow, 'mint'>;

const namesWhere = (ofNames: string, ofPolicies: string) => `
  SELECT DISTINCT policy, token_account, mint FROM named_accounts
  WHERE ${ofNames} AND token_account = '' AND policy NOT IN (SELECT address FROM policies WHERE ${ofPolicies})
  UNION ALL
  SELECT DISTINCT policy, token_account, mint FROM named_accounts
  WHERE ${ofNames} AND token_account != ''
    AND (policy, token_account) NOT IN (SELECT policy, token_account FROM venue_accounts WHERE ${ofNames})`;
const ALL_UNREAD = namesWhere('true', 'true');
const UNREAD_OF = namesWhere('policy IN {policies:Array(String)}', 'address IN {policies:Array(String)}');

/** What the standing events of some mints name: one that was struck out or taken back has no kind. */
const NAMED_BY_EVENTS = `
  SELECT DISTINCT policy, arrayJoin(if(kind = 'VenueRegistered', arrayConcat(
    ['', JSONExtractString(summary, 'tokenAccount')],
    JSONExtract(summary, '${TOKEN_ACCOUNTS}', 'Array(String)')), [''])) AS token_account
  FROM events FINAL WHERE mint IN {mints:Array(String)} AND policy != '' AND kind != ''`;

/** Mints of which an event was ever struck out or taken back. */
const DOUBTFUL = 'SELECT DISTINCT mint FROM derived_events WHERE taken_back = 1';

/** Names whose account was not read yet, whether or not an event that names it stands. @param policies null: of all */
export async function unreadNames(
  store: Store,
  policies: readonly string[] | null,
): Promise<NamedAccountRow[]> {
  if (policies === null) return store.query<NamedAccountRow>(ALL_UNREAD, {});
  const pieces = await inPieces(policies, (piece) =>
    store.query<NamedAccountRow>(UNREAD_OF, { policies: piece }),
  );
  return pieces.flat();
}

/** The names that a standing event has. Others are not to be read: there may be no such account. */
export async function standingNames(
  store: Store,
  unread: readonly NamedAccountRow[],
): Promise<UnreadAccount[]> {
  if (unread.length === 0) return [];
  const doubtful = new Set((await store.query<{ mint: string }>(DOUBTFUL, {})).map(({ mint }) => mint));
  const mints = [...new Set(unread.map(({ mint }) => mint))].filter((mint) => doubtful.has(mint));
  const pieces = await inPieces(mints, (piece) =>
    store.query<UnreadAccount>(NAMED_BY_EVENTS, { mints: piece }),
  );
  const standing = new Set(pieces.flat().map(nameOf));
  const named = new Map(
    unread
      .filter((one) => !doubtful.has(one.mint) || standing.has(nameOf(one)))
      .map(({ policy, token_account }) => [nameOf({ policy, token_account }), { policy, token_account }]),
  );
  return [...named.values()];
}

export const unreadAccounts = async (store: Store): Promise<UnreadAccount[]> =>
  standingNames(store, await unreadNames(store, null));

const nameOf = ({ policy, token_account }: UnreadAccount): string => `${policy} ${token_account}`;
