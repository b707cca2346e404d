import type { Store } from '../../client.ts';
import { sharedRows } from '../../shared-reads.ts';

/** A pair of the launch venue's newest catalogue. */
export interface PairRow {
  mint: string;
  symbol: string;
  name: string;
  logo_url: string | null;
}

/** The pairs of these quote mints, by mint. */
export const pairsOf = sharedRows<PairRow>('mint', (store, mints) =>
  store.query(
    `SELECT r.mint AS mint, r.symbol AS symbol, r.name AS name, r.logo_url AS logo_url
     FROM (SELECT arrayJoin(c.rows) AS r FROM catalogue AS c FINAL)
     WHERE r.mint IN {mints:Array(String)}`,
    { mints },
  ),
);

export interface QuotePairRow {
  mint: string;
  symbol: string;
  name: string;
  decimals: number;
  category: string;
  launchable: number;
  launchpad_ready: number;
  logo_url: string | null;
  policy_count: number;
  start_market_cap_usd: number | null;
  graduation_market_cap_usd: number | null;
  graduation_multiple: number | null;
}

const PAIRS = `SELECT r.mint AS mint, r.symbol AS symbol, r.name AS name, r.decimals AS decimals, r.category AS category,
       r.launchable AS launchable, r.launchpad_ready AS launchpad_ready, r.logo_url AS logo_url,
       p.start_market_cap_usd AS start_market_cap_usd,
       p.graduation_market_cap_usd AS graduation_market_cap_usd,
       p.graduation_multiple AS graduation_multiple`;
const FROM_CATALOGUE = `FROM (SELECT arrayJoin(c.rows) AS r FROM catalogue AS c FINAL) AS pair
     LEFT JOIN (
       SELECT mint, start_market_cap_usd, graduation_market_cap_usd, graduation_multiple
       FROM prices FINAL WHERE source = 'catalogue'
     ) AS p ON p.mint = r.mint`;
/** The order among pairs with equally many policies. */
const BY_SYMBOL = `symbol = '', symbol, mint`;

/** The catalogue's pairs whose symbol or name holds `search`: most policies first, then by symbol, at most `limit`. */
export async function quotePairs(store: Store, search: string, limit: number): Promise<QuotePairRow[]> {
  return store.query<QuotePairRow>(
    `${PAIRS}, toUInt32(n.policy_count) AS policy_count
     ${FROM_CATALOGUE}
     LEFT JOIN (
       SELECT quote_mint, count() AS policy_count FROM policies FINAL WHERE exists = 1 GROUP BY quote_mint
     ) AS n ON n.quote_mint = r.mint
     WHERE position(lowerUTF8(r.symbol), lowerUTF8({search:String})) > 0
        OR position(lowerUTF8(r.name), lowerUTF8({search:String})) > 0
     ORDER BY policy_count DESC, ${BY_SYMBOL}
     LIMIT {limit:UInt32}`,
    { search, limit },
  );
}

export type CataloguePairRow = Omit<QuotePairRow, 'policy_count'>;

/** All pairs, for a caller that knows how many policies each has: by symbol, at most `limit`. */
export async function cataloguePairs(store: Store, limit: number): Promise<CataloguePairRow[]> {
  return store.query<CataloguePairRow>(
    `${PAIRS} ${FROM_CATALOGUE} ORDER BY ${BY_SYMBOL} LIMIT {limit:UInt32}`,
    { limit },
  );
}

/** Whether the catalogue was ever read. */
export async function hasCatalogue(store: Store): Promise<boolean> {
  const [row] = await store.query<{ read: number }>('SELECT toUInt8(count() > 0) AS read FROM catalogue', {});
  return row?.read === 1;
}
