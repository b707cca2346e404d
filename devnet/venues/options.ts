/** The options venue's list and quotes. Every underlying has the same expiries; some options are odd on purpose. */

const UNDERLYINGS = [
  { currency: 'BTC', spot: 84_000, strikes: [80_000, 84_000, 90_000], step: '0.01', minimum: '0.1' },
  { currency: 'ETH', spot: 3_500, strikes: [3_000, 3_500, 4_000], step: '0.01', minimum: '0.1' },
  { currency: 'XRP', spot: 0.52, strikes: [0.5, 0.55], step: '1', minimum: '10' },
] as const;

const EXPIRIES = [
  { date: '20250627', seconds: 1_751_011_200 },
  { date: '20271231', seconds: 1_830_240_000 },
  { date: '20280630', seconds: 1_845_964_800 },
] as const;

const DECIMALS = 6;

interface Option {
  name: string;
  currency: string;
  spot: number;
  strike: number;
  type: 'C' | 'P';
  expiry: number;
  step: string;
  minimum: string;
}

const OPTIONS: Option[] = UNDERLYINGS.flatMap(({ currency, spot, strikes, step, minimum }) =>
  EXPIRIES.flatMap(({ date, seconds }) =>
    strikes.flatMap((strike) =>
      (['C', 'P'] as const).map((type) => ({
        name: `${currency}-${date}-${String(strike).replace('.', '_')}-${type}`,
        currency,
        spot,
        strike,
        type,
        expiry: seconds,
        step,
        minimum,
      })),
    ),
  ),
);

type Reply = { result: unknown } | { error: { code: number; message: string } };
const refuse = (code: number, message: string): Reply => ({ error: { code, message } });

function instrument(option: Option, nowMs: number): object {
  return {
    instrument_name: option.name,
    instrument_type: 'option',
    is_active: option.expiry * 1000 > nowMs,
    scheduled_activation: 1_735_689_600,
    scheduled_deactivation: option.expiry - 60,
    minimum_amount: option.minimum,
    maximum_amount: '10000',
    amount_step: option.step,
    tick_size: '0.1',
    base_currency: option.currency,
    quote_currency: 'USDC',
    option_details: {
      expiry: option.expiry,
      index: `${option.currency}-USD`,
      option_type: option.type,
      strike: String(option.strike),
      settlement_price: null,
    },
    perp_details: null,
    maker_fee_rate: '0.0001',
    taker_fee_rate: '0.0003',
    base_fee: '0.5',
  };
}

/** A quote that moves with time. The bid side is empty at the money, and for XRP. */
function ticker(option: Option, nowMs: number): object {
  const wave = Math.sin(nowMs / 60_000 + option.strike);
  const mark = Math.max(option.spot * 0.05 * (1 + wave / 10), 0.0001);
  const empty = option.strike === option.spot || option.currency === 'XRP';
  const text = (value: number) => value.toFixed(DECIMALS);
  return {
    t: nowMs,
    B: empty ? '0' : '1.5',
    b: empty ? '0' : text(mark * 0.98),
    A: '2.5',
    a: text(mark * 1.02),
    M: text(mark),
    I: text(option.spot),
    f: null,
    minp: text(mark * 0.2),
    maxp: text(mark * 5),
    option_pricing: {
      d: option.type === 'C' ? '0.52' : '-0.48',
      i: '0.61',
      t: '-12.5',
      g: '0.0001',
      v: '3.1',
      r: '0',
      f: text(option.spot),
      m: text(mark),
    },
    stats: { c: '0', v: '0', n: 0, oi: '0', h: '0', l: '0', p: '0' },
  };
}

/** `POST /public/<method>` in the shapes of the venue's API v3. */
export function optionsMethod(method: string, params: Record<string, unknown>, nowMs: number): Reply {
  const live = OPTIONS.filter(({ expiry }) => expiry * 1000 > nowMs);
  const named = OPTIONS.find(({ name }) => name === params.instrument_name);
  switch (method) {
    case 'get_all_live_instruments':
      return { result: live.map(({ name }) => name) };
    case 'get_all_instruments': {
      const size = Math.min(Number(params.page_size ?? 100), 1000);
      const page = Number(params.page ?? 1);
      const rows = live.slice((page - 1) * size, page * size).map((option) => instrument(option, nowMs));
      return {
        result: {
          instruments: rows,
          pagination: { num_pages: Math.ceil(live.length / size), count: live.length },
        },
      };
    }
    case 'get_instrument':
      return named === undefined
        ? refuse(12001, 'Instrument not found')
        : { result: instrument(named, nowMs) };
    case 'get_ticker':
      return named === undefined ? refuse(12001, 'Instrument not found') : { result: ticker(named, nowMs) };
    case 'get_all_currencies':
      return {
        result: [
          ...UNDERLYINGS.map(({ currency, spot }) => ({
            currency,
            market_type: 'ALL',
            spot_price: String(spot),
            option: { name: `${currency}-OPTION` },
            perp: currency === 'XRP' ? null : { name: `${currency}-PERP` },
          })),
          { currency: 'USDC', market_type: 'CASH', spot_price: '1', option: null, perp: null },
        ],
      };
    default:
      return refuse(-32601, 'Method not found');
  }
}
