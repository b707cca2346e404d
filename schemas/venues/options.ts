import { MalformedError } from '../malformed.ts';
import type { CurrencyRow } from '../readings.ts';
import { isUnixMillis } from '../units.ts';
import { amountText, decimalText, objectOf, textOf } from './decimal.ts';

/** An error that the venue answered. */
export class VenueRefusal extends Error {
  override name = 'VenueRefusal';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const INSTRUMENT_NOT_FOUND = 12001;
export const NOT_LIVE = 11021;
export const RATE_LIMITED = -32000;

/** The result of a reply: judged by `error`, not by the HTTP status. @throws VenueRefusal, MalformedError */
export function resultOf(reply: unknown): unknown {
  const { result, error } = objectOf(reply, 'reply');
  if (error !== undefined && error !== null) {
    const { code, message } = objectOf(error, 'reply.error');
    const number = Number(code);
    if (!Number.isSafeInteger(number)) throw new MalformedError('reply.error.code', 'no number');
    throw new VenueRefusal(number, String(message).slice(0, 500));
  }
  if (result === undefined) throw new MalformedError('reply', 'neither result nor error');
  return result;
}

export interface OptionInstrument {
  name: string;
  live: boolean;
  minimumAmount: string;
  maximumAmount: string;
  amountStep: string;
  underlying: string;
  optionType: 'C' | 'P';
  strike: string;
  /** Unix seconds. */
  expiry: number;
}

const FOREVER = Number.MAX_SAFE_INTEGER;

/** A time, given as a number or its digits; capped where a number is still exact. */
function timeOf(value: unknown, what: string): number {
  const isTime =
    typeof value === 'number'
      ? Number.isFinite(value)
      : typeof value === 'string' && /^\d{1,20}$/.test(value);
  if (!isTime) throw new MalformedError(what, 'no time');
  return Math.min(Number(value), FOREVER);
}

/** Reads an option instrument, in the second or third version's shape. @throws MalformedError */
export function readInstrument(value: unknown, nowMs: number): OptionInstrument {
  const row = objectOf(value, 'instrument');
  const details = objectOf(row.option_details, 'instrument.option_details');
  const { option_type: optionType } = details;
  if (optionType !== 'C' && optionType !== 'P')
    throw new MalformedError('option_details.option_type', 'neither C nor P');
  const now = nowMs / 1000;
  return {
    name: textOf(row.instrument_name, 'instrument.instrument_name'),
    live:
      row.is_active === true &&
      timeOf(row.scheduled_activation, 'instrument.scheduled_activation') <= now &&
      now < timeOf(row.scheduled_deactivation, 'instrument.scheduled_deactivation'),
    minimumAmount: amountText(row.minimum_amount, 'instrument.minimum_amount'),
    maximumAmount: amountText(row.maximum_amount, 'instrument.maximum_amount'),
    amountStep: amountText(row.amount_step, 'instrument.amount_step'),
    underlying: textOf(row.base_currency, 'instrument.base_currency'),
    optionType,
    strike: amountText(details.strike, 'option_details.strike'),
    expiry: timeOf(details.expiry, 'option_details.expiry'),
  };
}

export interface OptionTicker {
  bestBidPrice: string;
  bestBidAmount: string;
  bestAskPrice: string;
  bestAskAmount: string;
  markPrice: string;
  indexPrice: string;
  /** Null where the venue gives none. */
  delta: string | null;
  iv: string | null;
  /** Milliseconds of the venue's clock. */
  timestamp: number;
}

/** Reads a quote with long or slim keys. An empty side is "0" in price and amount. @throws MalformedError */
export function readTicker(value: unknown): OptionTicker {
  const row = objectOf(value, 'ticker');
  const timestamp = timeOf(row.timestamp ?? row.t, 'ticker.timestamp');
  if (!isUnixMillis(timestamp)) throw new MalformedError('ticker.timestamp', 'no time');
  const pricing = row.option_pricing == null ? {} : objectOf(row.option_pricing, 'ticker.option_pricing');
  const either = (from: Record<string, unknown>, long: string, slim: string, read = amountText) =>
    read(from[long] ?? from[slim], `ticker.${long}`);
  const priced = (long: string, slim: string, read = amountText) =>
    (pricing[long] ?? pricing[slim]) == null ? null : either(pricing, long, slim, read);
  return {
    bestBidPrice: either(row, 'best_bid_price', 'b'),
    bestBidAmount: either(row, 'best_bid_amount', 'B'),
    bestAskPrice: either(row, 'best_ask_price', 'a'),
    bestAskAmount: either(row, 'best_ask_amount', 'A'),
    markPrice: either(row, 'mark_price', 'M'),
    indexPrice: either(row, 'index_price', 'I'),
    delta: priced('delta', 'd', decimalText),
    iv: priced('iv', 'i'),
    timestamp,
  };
}

const MOST_CURRENCIES = 1_000;

export interface Currencies {
  /** The currencies that have options, each once. */
  rows: CurrencyRow[];
  /** Malformed rows, and those whose price cannot be read, as they came, with the reason. */
  bad: { row: unknown; reason: string }[];
}

/**
 * Reads the list of currencies.
 * @throws MalformedError where it is none, or bad rows leave no currency or no price in it
 */
export function readCurrencies(value: unknown): Currencies {
  if (!Array.isArray(value) || value.length > MOST_CURRENCIES)
    throw new MalformedError('currencies', 'no list');
  const bad: Currencies['bad'] = [];
  let unpriced = 0;
  const read = value.flatMap((entry) => {
    try {
      const { row, priceError } = readCurrency(entry);
      // A row whose price cannot be read is a currency all the same.
      if (priceError !== null) {
        unpriced += 1;
        bad.push({ row: entry, reason: priceError });
      }
      return row === null ? [] : [{ entry, row }];
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      bad.push({ row: entry, reason: error.message });
      return [];
    }
  });
  const rows: CurrencyRow[] = [];
  for (const same of Map.groupBy(read, ({ row }) => row.currency).values()) {
    const [{ row }] = same as [(typeof read)[number]];
    // Where a currency is listed twice, it is not known which price holds.
    if (same.length === 1) rows.push(row);
    else bad.push(...same.map(({ entry }) => ({ row: entry, reason: 'currencies: the same one twice' })));
  }
  const isWithoutPrice = unpriced > 0 && rows.every(({ spotPrice }) => spotPrice === null);
  if ((rows.length === 0 || isWithoutPrice) && bad[0] !== undefined)
    throw new MalformedError('currencies', `none of ${bad.length} rows can be read: ${bad[0].reason}`);
  return { rows, bad };
}

/**
 * `row` is null where it has no options, `priceError` where its price can be read or there is none.
 * @throws MalformedError
 */
function readCurrency(entry: unknown): { row: CurrencyRow | null; priceError: string | null } {
  const row = objectOf(entry, 'currency');
  const types = Array.isArray(row.instrument_types) ? row.instrument_types : null;
  const has = (type: 'option' | 'perp') => (types === null ? row[type] != null : types.includes(type));
  if (!has('option')) return { row: null, priceError: null };
  const { spotPrice, priceError } = priceIn(row.spot_price);
  const currency = textOf(row.currency, 'currency.currency', 50);
  return { row: { currency, spotPrice, hasOptions: true, hasPerps: has('perp') }, priceError };
}

function priceIn(value: unknown): { spotPrice: string | null; priceError: string | null } {
  if (value == null) return { spotPrice: null, priceError: null };
  try {
    return { spotPrice: amountText(value, 'currency.spot_price'), priceError: null };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return { spotPrice: null, priceError: error.message };
  }
}
