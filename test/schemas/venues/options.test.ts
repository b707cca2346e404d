import { describe, expect, test } from 'vitest';
import { MalformedError } from '../../../schemas/malformed.ts';
import {
  readCurrencies,
  readInstrument,
  readTicker,
  resultOf,
  VenueRefusal,
} from '../../../schemas/venues/options.ts';
import { fixture } from '../support/fixtures.ts';

const NOW = Date.parse('2026-11-01T00:00:00Z');

describe('recorded replies of the options venue', () => {
  test('an option instrument is read with its amounts, strike and expiry', () => {
    expect(readInstrument(fixture('options_venue/v2-get_instrument-option.json'), NOW)).toEqual({
      name: 'ETH-20261225-3500-C',
      live: true,
      minimumAmount: '0.1',
      maximumAmount: '10000',
      amountStep: '0.01',
      underlying: 'ETH',
      optionType: 'C',
      strike: '3500',
      expiry: 1798185600,
    });
  });

  test('a perpetual is malformed as an option instrument', () => {
    const { result } = fixture('options_venue/v3-get_all_instruments-perp.json') as {
      result: { instruments: unknown[] };
    };
    expect(() => readInstrument(result.instruments[0], NOW)).toThrow(MalformedError);
  });

  test('a quote without option pricing is read with a delta and iv of null', () => {
    const reply = fixture('options_venue/v2-get_ticker-perp-2025-01-06.json');
    expect(readTicker(resultOf(reply))).toMatchObject({ delta: null, iv: null });
  });

  test('a quote with short keys is read with every digit and with prices and amounts told apart', () => {
    const [first, second] = fixture('options_venue/ticker_slim-option-two-sided.json') as {
      ticker: unknown;
    }[];
    expect(readTicker(first?.ticker)).toEqual({
      bestBidPrice: '341',
      bestBidAmount: '0.4',
      bestAskPrice: '414',
      bestAskAmount: '0.4',
      markPrice: '364',
      indexPrice: '71078',
      delta: '-0.24967',
      iv: '0.70513',
      timestamp: 1772624842966,
    });
    expect(readTicker(second?.ticker)).toMatchObject({
      bestBidPrice: '38.4',
      bestBidAmount: '250.6',
      bestAskPrice: '43.8',
      bestAskAmount: '3.46',
    });
  });

  test('an empty order book is read as zeros, as the venue writes it', () => {
    const { response } = fixture('options_venue/v3-get_tickers-option-empty-book.json') as {
      response: { result: { tickers: Record<string, unknown> } };
    };
    expect(readTicker(Object.values(response.result.tickers)[0])).toMatchObject({
      bestBidPrice: '0',
      bestBidAmount: '0',
      bestAskPrice: '0',
      bestAskAmount: '0',
      markPrice: '85272',
    });
  });

  test('a quote with long keys is read', () => {
    expect(readTicker(fixture('options_venue/v2-get_ticker-option-synthetic.json'))).toEqual({
      bestBidPrice: '118.0',
      bestBidAmount: '5',
      bestAskPrice: '120.5',
      bestAskAmount: '10',
      markPrice: '119.0',
      indexPrice: '3500',
      delta: '0.55',
      iv: '0.60',
      timestamp: 1700000000000,
    });
  });

  test('a currency that has options is read with its spot price', () => {
    expect(readCurrencies(resultOf(fixture('options_venue/v3-get_all_currencies.json')))).toEqual({
      rows: [{ currency: 'BTC', spotPrice: '84829.66932265963', hasOptions: true, hasPerps: true }],
      bad: [],
    });
  });
});

const INSTRUMENT = {
  instrument_name: 'XRP-20261225-0_5-P',
  is_active: true,
  scheduled_activation: NOW / 1000,
  scheduled_deactivation: '9223372036854775807',
  minimum_amount: '1',
  maximum_amount: '10',
  amount_step: '0.5',
  base_currency: 'XRP',
  option_details: { expiry: 1798185600, option_type: 'P', strike: '0.5' },
};

test('an instrument is live from its activation up to its deactivation, and while it is active', () => {
  const live = (more: object) => readInstrument({ ...INSTRUMENT, ...more }, NOW).live;
  expect(live({})).toBe(true);
  expect(live({ is_active: false })).toBe(false);
  expect(live({ is_active: 'true' })).toBe(false);
  expect(live({ scheduled_activation: NOW / 1000 + 1 })).toBe(false);
  expect(live({ scheduled_deactivation: NOW / 1000 })).toBe(false);
  expect(live({ scheduled_deactivation: NOW / 1000 + 1 })).toBe(true);
});

test.each([
  { option_details: null },
  { option_details: { ...INSTRUMENT.option_details, option_type: 'call' } },
  { option_details: { ...INSTRUMENT.option_details, strike: 0.5 } },
  { scheduled_activation: null },
  { scheduled_deactivation: 'never' },
  { amount_step: '' },
  { amount_step: '-0.01' },
  { minimum_amount: '-1' },
  { maximum_amount: '1e400' },
  { option_details: { ...INSTRUMENT.option_details, strike: '-0.5' } },
  { instrument_name: 'x'.repeat(501) },
])('an instrument with %j is malformed', (more) => {
  expect(() => readInstrument({ ...INSTRUMENT, ...more }, NOW)).toThrow(MalformedError);
});

test('currencies of API version 2 are read by their instrument types; those without options are left out', () => {
  const rows = [
    { currency: 'ETH', instrument_types: ['erc20', 'option', 'perp'], spot_price: '3500.5' },
    { currency: 'DOGE', instrument_types: ['perp'], spot_price: '0.1' },
    { currency: 'SOL', instrument_types: ['option'], spot_price: null },
  ];
  expect(readCurrencies(rows).rows).toEqual([
    { currency: 'ETH', spotPrice: '3500.5', hasOptions: true, hasPerps: true },
    { currency: 'SOL', spotPrice: null, hasOptions: true, hasPerps: false },
  ]);
});

test.each(['-7', '1e400', '', 'x', 3500, true, {}])(
  'a currency whose price is %j gets a price of null with the reason, and the others are read',
  (price) => {
    const rows = [
      { currency: 'ETH', option: {}, spot_price: price },
      { currency: 'BTC', option: {}, spot_price: '84000' },
    ];
    expect(readCurrencies(rows)).toMatchObject({
      rows: [
        { currency: 'ETH', spotPrice: null },
        { currency: 'BTC', spotPrice: '84000' },
      ],
      bad: [{ row: rows[0], reason: expect.stringMatching(/^currency\.spot_price: /) }],
    });
    expect(() => readCurrencies(rows.slice(0, 1))).toThrow('none of 1 rows can be read: currency.spot_price');
  },
);

test('invalid rows, and a currency that is listed twice, are left out with the reason', () => {
  const twice = ['3500', '1'].map((price) => ({ currency: 'ETH', option: {}, spot_price: price }));
  const odd = [5, null, { currency: 5, option: {} }, { currency: 'x'.repeat(51), option: {} }];
  const { rows, bad } = readCurrencies([...odd, ...twice, { currency: 'BTC', option: {} }]);
  expect(rows.map(({ currency }) => currency)).toEqual(['BTC']);
  expect(bad.map(({ row }) => row)).toEqual([...odd, ...twice]);
  expect(bad.at(-1)?.reason).toBe('currencies: the same one twice');
});

test('a list with rows of which none can be read is an error; one without options, or empty, gives no rows', () => {
  expect(() => readCurrencies([5, null])).toThrow(/none of 2 rows can be read: currency: no object/);
  expect(() => readCurrencies({})).toThrow(MalformedError);
  const without = { currency: 'USDC', option: null };
  expect(() => readCurrencies([5, without])).toThrow(/none of 1 rows can be read/);
  for (const none of [[], [without]]) expect(readCurrencies(none)).toEqual({ rows: [], bad: [] });
});

test('a quote may lack delta, iv or both, but not a price', () => {
  const text = '1';
  const ticker = { t: 1, b: text, B: text, a: text, A: text, M: text, I: text };
  const pricing = (option_pricing: unknown) => {
    const { delta, iv } = readTicker({ ...ticker, option_pricing });
    return [delta, iv];
  };
  expect(pricing({ d: '-0.5', i: null })).toEqual(['-0.5', null]);
  expect(pricing({ delta: null, iv: '0.6' })).toEqual([null, '0.6']);
  for (const none of [null, undefined, {}]) expect(pricing(none)).toEqual([null, null]);
  expect(() => readTicker({ ...ticker, M: null })).toThrow(MalformedError);
});

test('a reply with an error is a refusal with its code, given as number or text; else it gives its result', () => {
  expect(resultOf({ id: 1, result: [] })).toEqual([]);
  expect(resultOf({ id: 1, result: null, error: null })).toBeNull();
  for (const code of [12001, '12001']) {
    const read = () => resultOf({ id: 1, result: {}, error: { code, message: 'Instrument not found' } });
    expect(read).toThrow(VenueRefusal);
    expect(read).toThrow(expect.objectContaining({ code: 12001 }));
  }
});

test.each([null, 1, 'x', [], {}, { error: 'x' }, { error: { code: 'x' } }, { error: { code: {} } }])(
  '%j is malformed as a reply',
  (reply) => {
    expect(() => resultOf(reply)).toThrow(MalformedError);
  },
);

test.each([
  { timestamp: null, t: null },
  { timestamp: '' },
  { timestamp: true },
  { timestamp: {} },
  { timestamp: -1 },
  { timestamp: '9223372036854775807' },
  { mark_price: 1 },
  { M: '-1' },
  { b: '-0.5' },
  { I: '1e400' },
  { option_pricing: { d: '-0.5', i: '-0.6' } },
  { option_pricing: { d: 0.5, i: '0.6' } },
  { option_pricing: 'none' },
])('a quote with %j is malformed', (more) => {
  const text = '1';
  const ticker = {
    ...{ t: 1, b: text, B: text, a: text, A: text, M: text, I: text, option_pricing: { d: text, i: text } },
    ...more,
  };
  expect(() => readTicker(ticker)).toThrow(MalformedError);
});
