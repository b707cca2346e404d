import type { CatalogueRow, CurrencyRow } from '../../../schemas/readings.ts';
import type { ReadingRecord } from '../../../schemas/records.ts';

export type ReadingTable =
  | 'account_readings'
  | 'venue_status'
  | 'stream_state'
  | 'program_status'
  | 'catalogue'
  | 'prices'
  | 'metadata_documents'
  | 'currencies';

/** The table and the row of a reading of the outside world. */
export function readingRow(record: ReadingRecord): { table: ReadingTable; row: object } {
  const { table, row } = rowOf(record);
  return { table, row: wellFormed(row) };
}

function rowOf({ reading, readAt }: ReadingRecord): { table: ReadingTable; row: object } {
  const read_at = String(readAt);
  switch (reading.type) {
    case 'venue_account':
      return {
        table: 'account_readings',
        row: {
          venue_account: reading.venueAccount,
          read_at,
          venue: reading.venue,
          reachable: Number(reading.reachable),
          error: reading.error,
          equity: reading.equity,
          notional: reading.notional,
          reason: reading.reason,
          venue_time: reading.venueTime,
        },
      };
    case 'stream': {
      const { connected, reason, addresses, overRpc, listed, listedSlot = null } = reading;
      const since = String(reading.since);
      // With this age, a state that is read again from an old log has expired by any clock.
      const lag_ms = String(Math.max(0, Date.now() - readAt));
      const row = {
        read_at,
        connected: Number(connected),
        since,
        reason,
        addresses,
        over_rpc: overRpc,
        lag_ms,
        listed: listed === undefined ? null : Number(listed),
        listed_slot: listedSlot,
      };
      return { table: 'stream_state', row };
    }
    case 'venue_status':
      return {
        table: 'venue_status',
        row: { venue: reading.venue, ok: Number(reading.ok), read_at, error: reading.error },
      };
    case 'program_status': {
      const { program, address, exists, error } = reading;
      return { table: 'program_status', row: { program, read_at, address, exists: Number(exists), error } };
    }
    case 'catalogue':
      return { table: 'catalogue', row: { read_at, rows: reading.rows.map(pairTuple) } };
    case 'price':
      return {
        table: 'prices',
        row: {
          mint: reading.mint,
          source: reading.source,
          read_at,
          usd: reading.usd,
          observed_at: reading.observedAt,
          start_market_cap_usd: reading.startMarketCapUsd,
          graduation_market_cap_usd: reading.graduationMarketCapUsd,
          graduation_multiple: reading.graduationMultiple,
        },
      };
    case 'metadata':
      return {
        table: 'metadata_documents',
        row: {
          mint: reading.mint,
          read_at,
          uri: reading.uri,
          image_url: reading.imageUrl,
          error: reading.error,
        },
      };
    case 'currencies':
      return { table: 'currencies', row: { read_at, rows: reading.items.map(currencyTuple) } };
  }
}

/** An older log may have half a surrogate pair of a reply, which no store takes: its batch would be tried for ever. */
const wellFormed = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.toWellFormed() : value,
    ]),
  );

function pairTuple(row: CatalogueRow): object {
  return wellFormed({
    mint: row.mint,
    symbol: row.symbol,
    name: row.name,
    decimals: row.decimals,
    category: row.category,
    launchable: Number(row.launchable),
    launchpad_ready: Number(row.launchpadReady),
    logo_url: row.logoUrl,
  });
}

function currencyTuple(row: CurrencyRow): object {
  return wellFormed({
    currency: row.currency,
    spot_price: row.spotPrice,
    has_options: Number(row.hasOptions),
    has_perps: Number(row.hasPerps),
  });
}
