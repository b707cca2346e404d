import { absent, type Figure, figure } from '../../../schemas/figure.ts';
import type { Direction, MarkToMark, OptionQuote } from '../../../schemas/responses/agent.ts';
import { isoMillis, parseDecimal } from '../../../schemas/units.ts';
import type { OptionTicker } from '../../../schemas/venues/options.ts';
import { minus } from './decimal.ts';

/** The side of the book that an open would cross; a release is compared on the same side. */
const SIDE = { long: 'ask', short: 'bid' } as const satisfies Record<Direction, 'ask' | 'bid'>;

const isZero = (text: string) => parseDecimal(text)?.digits === 0n;

/** The quote as it is stored and served: what the venue said, an empty side as absent. */
export function quoteOf(ticker: OptionTicker, direction: Direction, venue: string): OptionQuote {
  const source = `${venue}:get_ticker`;
  const at = isoMillis(ticker.timestamp);
  const side = (name: 'bid' | 'ask', price: string, amount: string): Figure =>
    isZero(price) || isZero(amount)
      ? absent(source, `the ${name} side of the book was empty at ${at}`)
      : figure(price, source, at);
  const priced = (value: string | null): Figure =>
    value === null ? absent(source, 'the venue gave none') : figure(value, source, at);
  const sides = {
    bid: side('bid', ticker.bestBidPrice, ticker.bestBidAmount),
    ask: side('ask', ticker.bestAskPrice, ticker.bestAskAmount),
  };
  return {
    best_bid_price: sides.bid,
    best_ask_price: sides.ask,
    mark_price: figure(ticker.markPrice, source, at),
    index_price: figure(ticker.indexPrice, source, at),
    delta: priced(ticker.delta),
    iv: priced(ticker.iv),
    venueTimestamp: at,
    reference: { side: SIDE[direction], price: sides[SIDE[direction]] },
  };
}

/** The quote of a release for which the venue has none. */
export function noQuote(reason: string, direction: Direction, venue: string): OptionQuote {
  const none = absent(`${venue}:get_ticker`, reason);
  return {
    best_bid_price: none,
    best_ask_price: none,
    mark_price: none,
    index_price: none,
    delta: none,
    iv: none,
    venueTimestamp: null,
    reference: { side: SIDE[direction], price: none },
  };
}

const NOTE =
  'release minus open of the same side of the book, per contract: a quote that moved, not a profit and not a fill';

/** How the quote moved between open and release; absent when either end is, for that end's reason. */
export function markToMark(direction: Direction, open: OptionQuote, release: OptionQuote): MarkToMark {
  const openPrice = open.reference.price;
  const releasePrice = release.reference.price;
  const ends = { side: SIDE[direction], openPrice, releasePrice, note: NOTE };
  // Where both ends lack a price, the release's reason is told: it says what became of the contract.
  const reason = [releasePrice, openPrice].find((end) => end.absent)?.reason;
  if (reason === undefined) return { ...ends, change: moved(openPrice, releasePrice) };
  return { ...ends, change: absent('computed', reason), absent: true, reason };
}

function moved(open: Figure, release: Figure): Figure {
  const older = [open.asOf, release.asOf].sort()[0] ?? null;
  return figure(minus(String(release.value), String(open.value)), 'computed', older);
}
