import type { Store } from '../../client.ts';

export interface RemoteAccount {
  /** Address of the venue account: two of them may list one token account. */
  address: string;
  policy: string;
  /** 64 hex digits. */
  remoteAccount: string;
  assetClass: number;
  /** 1 where the protocol's reporter ever attested it, so that it is not a stranger's. */
  attested: number;
}

/** Remote venue accounts that are not revoked. */
export async function remoteAccounts(store: Store): Promise<RemoteAccount[]> {
  return store.query<RemoteAccount>(
    `SELECT address, policy, remote_account AS remoteAccount, asset_class AS assetClass,
       remote_asof != 0 AS attested
     FROM venue_accounts FINAL WHERE exists AND NOT revoked AND kind = 'Remote' ORDER BY address`,
  );
}

/** Quote mints, each in one of three lists, in order. */
export interface QuoteMints {
  /** Quote mints of policies that the catalogue lists. */
  used: string[];
  /** Quote mints of policies that it does not list: anybody may create a policy whose quote is their own mint. */
  unlisted: string[];
  /** The rest of the catalogue. */
  listed: string[];
}

export async function quoteMints(store: Store): Promise<QuoteMints> {
  const ofPolicies = await store.query<{ mint: string }>(
    'SELECT DISTINCT quote_mint AS mint FROM policies FINAL WHERE exists ORDER BY mint',
  );
  const ofCatalogue = await store.query<{ mint: string }>(
    'SELECT r.mint AS mint FROM (SELECT arrayJoin(c.rows) AS r FROM catalogue AS c FINAL) ORDER BY mint',
  );
  const needed = new Set(ofPolicies.map(({ mint }) => mint));
  const listed = new Set(ofCatalogue.map(({ mint }) => mint));
  return {
    used: [...needed].filter((mint) => listed.has(mint)),
    unlisted: [...needed].filter((mint) => !listed.has(mint)),
    listed: [...listed].filter((mint) => !needed.has(mint)),
  };
}

export interface MetadataTarget {
  mint: string;
  uri: string;
  /** The uri whose document was read last, when, and the image that is known of it. */
  readUri: string | null;
  readAt: string | null;
  imageUrl: string | null;
}

/** Launched mints and quote mints with the uri of their metadata: never read ones first, then by the time of reading. */
export async function metadataUris(store: Store): Promise<MetadataTarget[]> {
  return store.query(
    `SELECT p.mint AS mint, coalesce(nullIf(m.uri, ''), a.uri) AS uri, nullIf(d.uri, '') AS readUri, d.read_at AS readAt,
       d.image_url AS imageUrl
     FROM (SELECT DISTINCT arrayJoin([mint, quote_mint]) AS mint FROM policies FINAL WHERE exists) AS p
     INNER JOIN (SELECT * FROM mints FINAL WHERE exists) AS m ON m.address = p.mint
     LEFT JOIN (SELECT * FROM metadata_accounts FINAL WHERE exists) AS a ON a.address = m.metadata_pointer AND a.mint = p.mint
     LEFT JOIN (SELECT * FROM metadata_documents FINAL) AS d ON d.mint = p.mint
     WHERE uri != '' ORDER BY readAt, mint`,
  );
}
