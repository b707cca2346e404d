import http from 'node:http';

type Json = Record<string, unknown>;

/** An options venue with one contract, whose answers a test may change. */
export interface FakeVenue {
  url: string;
  /** Fields that replace the contract's and the quote's own. */
  instrument: Json;
  ticker: Json;
  version: 2 | 3;
  fault: 'garbage' | 'busy' | 'hang' | 'refuse' | 'poison' | 'another' | null;
  /** Runs between a request for a quote and its answer; once. */
  beforeTicker: (() => Promise<void>) | null;
  /** The method that answers that there is no such instrument. */
  unknown: 'get_instrument' | 'get_ticker' | null;
  /** The method that answers with an error of the venue's own, and the error's code. */
  error: { method: 'get_instrument' | 'get_ticker'; code: number } | null;
  /** HTTP status of its own errors. */
  refusalStatus: number;
  /** Methods asked so far. */
  asked: string[];
  reset(): void;
  close(): Promise<void>;
}

export const CALL = 'ETH-20991225-3500-C';

const CONTRACT = {
  instrument_name: CALL,
  instrument_type: 'option',
  is_active: true,
  scheduled_activation: 1_774_598_400,
  scheduled_deactivation: 4_000_000_000,
  minimum_amount: '0.1',
  maximum_amount: '100',
  amount_step: '0.01',
  base_currency: 'ETH',
  option_details: { expiry: 4_000_000_000, index: 'ETH-USD', option_type: 'C', strike: '3500' },
};

const LONG = {
  best_bid_price: '118.0',
  best_bid_amount: '5',
  best_ask_price: '120.5',
  best_ask_amount: '10',
  mark_price: '119.0',
  index_price: '3500',
  timestamp: 1_790_867_526_668,
  option_pricing: { delta: '0.55', iv: '0.60' },
};

const SLIM = {
  b: '118.0',
  B: '5',
  a: '120.5',
  A: '10',
  M: '119.0',
  I: '3500',
  t: 1_790_867_526_668,
  option_pricing: { d: '0.55', i: '0.60' },
};

export async function startFakeVenue(): Promise<FakeVenue> {
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const method = (request.url ?? '').split('/').at(-1) ?? '';
    venue.asked.push(method);
    if (method === 'get_ticker' && venue.beforeTicker !== null) {
      const happens = venue.beforeTicker;
      venue.beforeTicker = null;
      await happens();
    }
    if (venue.fault === 'refuse') return void request.socket.destroy();
    if (venue.fault === 'busy') return void response.writeHead(503).end('busy');
    if (venue.fault === 'hang') return;
    if (venue.fault === 'garbage') return void response.writeHead(200).end(Buffer.from([0xff, 0, 0x7b]));
    const { instrument_name: name } = JSON.parse(Buffer.concat(chunks).toString()) as Json;
    const poison = venue.fault === 'poison' ? { base_currency: 'E\u0000H' } : {};
    const contract: Json = { ...CONTRACT, instrument_name: name, ...venue.instrument, ...poison };
    const known = typeof name === 'string' && /^(ETH|BTC)-/.test(name) && venue.unknown !== method;
    const other = venue.fault === 'another' ? { instrument_name: 'BTC-20991225-3500-C' } : {};
    const quote = { ...(venue.version === 3 ? SLIM : LONG), ...venue.ticker, ...other };
    const fails = venue.error?.method === method;
    const answer = fails
      ? { error: { code: venue.error?.code, message: 'x' } }
      : !known
        ? { error: { code: 12001, message: 'Instrument not found' } }
        : { result: method === 'get_instrument' ? contract : quote };
    response
      .writeHead(known && !fails ? 200 : venue.refusalStatus, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id: 'x', ...answer }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const venue: FakeVenue = {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    instrument: {},
    ticker: {},
    version: 3,
    fault: null,
    beforeTicker: null,
    unknown: null,
    error: null,
    refusalStatus: 400,
    asked: [],
    reset: () =>
      Object.assign(venue, {
        instrument: {},
        ticker: {},
        version: 3,
        fault: null,
        beforeTicker: null,
        unknown: null,
        error: null,
        refusalStatus: 400,
        asked: [],
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return venue;
}
