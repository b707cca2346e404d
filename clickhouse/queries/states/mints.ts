import { inOrder, keyWithin } from '../../in-order.ts';
import { sharedRows } from '../../shared-reads.ts';

/** A mint with its metadata (its own, or of the account it points at) and the image its document names. */
export interface MintRow {
  address: string;
  exists: number;
  decimals: number;
  has_metadata: number;
  name: string | null;
  symbol: string | null;
  uri: string | null;
  /** Block time of the state that holds the metadata. */
  metadata_time: string | null;
  /** Of the document at `uri`; null where that was not read or names none. */
  image_url: string | null;
  /** Of that document: whether it was read, and what failed when it was read last. */
  document_read: number;
  document_error: string | null;
}

/** @param among a condition on a column that holds mints */
const mintsOf = (among: (column: string) => string, most = '', key = ''): string =>
  `SELECT ${key}m.address AS address, m.exists AS exists, m.decimals AS decimals,
     (x.found OR m.name IS NOT NULL OR m.symbol IS NOT NULL OR m.uri IS NOT NULL) AS has_metadata,
     if(x.found, x.name, m.name) AS name,
     if(x.found, x.symbol, m.symbol) AS symbol,
     if(x.found, x.uri, m.uri) AS uri,
     if(x.found, x.block_time, m.block_time) AS metadata_time,
     (d.found AND ifNull(d.uri = if(x.found, x.uri, m.uri), 0)) AS document_read,
     if(document_read, d.image_url, NULL) AS image_url,
     if(document_read, d.error, NULL) AS document_error
   FROM (SELECT * FROM mints FINAL WHERE ${among('address')} ${most}) AS m
   LEFT JOIN (
     SELECT address, mint, name, symbol, uri, block_time, toUInt8(1) AS found
     FROM metadata_accounts FINAL
     WHERE exists = 1 AND ${among('mint')}
       AND address IN (SELECT metadata_pointer FROM mints WHERE ${among('address')})
   ) AS x ON x.address = ifNull(m.metadata_pointer, '') AND x.mint = m.address
   LEFT JOIN (
     SELECT mint, uri, image_url, error, toUInt8(1) AS found
     FROM metadata_documents FINAL
     WHERE ${among('mint')}
   ) AS d ON d.mint = m.address`;

/** The mints at these addresses that were read, by address. */
export const mintsAt = sharedRows<MintRow>('address', (store, addresses) =>
  store.query(
    mintsOf((column) => `${column} IN {addresses:Array(String)}`),
    { addresses },
  ),
);

export const mintsInOrder = inOrder(
  `${mintsOf(keyWithin, 'ORDER BY address LIMIT {most:UInt32}', 'm.address AS key, ')}
   ORDER BY m.address`,
);
