import type { Store } from '../../client.ts';

export interface RemoteAccount {
  /** Of the venue account: two may list one token account. */
  address: string;
  /** 64 hex digits. */
  remoteAccount: string;
  assetClass: number;
}

/** Remote venue accounts that are not revoked. */
export async function remoteAccounts(store: Store): Promise<RemoteAccount[]> {
  return store.query<RemoteAccount>(
    `SELECT address, remote_account AS remoteAccount, asset_class AS assetClass
     FROM venue_accounts FINAL WHERE exists AND NOT revoked AND kind = 'Remote' ORDER BY address`,
  );
}

/** Quote mints of policies first, then the rest of the catalogue. */
export async function quoteMints(store: Store): Promise<{ used: string[]; listed: string[] }> {
  const used = await store.query<{ mint: string }>(
    'SELECT DISTINCT quote_mint AS mint FROM policies FINAL WHERE exists ORDER BY mint',
  );
  const listed = await store.query<{ mint: string }>(
    'SELECT r.mint AS mint FROM (SELECT arrayJoin(c.rows) AS r FROM catalogue AS c FINAL) ORDER BY mint',
  );
  const first = new Set(used.map(({ mint }) => mint));
  return { used: [...first], listed: listed.map(({ mint }) => mint).filter((mint) => !first.has(mint)) };
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
