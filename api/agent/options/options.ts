import type {
  Direction,
  ExposuresResponse,
  OptionQuote,
  ReleaseResponse,
  StatusFilter,
} from '../../../schemas/responses/agent.ts';
import { isoTime } from '../../../schemas/units.ts';
import { pageOf } from '../../http/paging.ts';
import type { RouteReply } from '../../http/route.ts';
import type { AgentParts } from '../agent-parts.ts';
import { stringOf, textOf } from '../body.ts';
import type { LivePolicy } from '../chain/chain.ts';
import { databaseTime } from '../limits/limits.ts';
import { Refusal } from '../refusal.ts';
import type { AgentCall } from '../session/authenticated.ts';
import { inOneWrite, mustHoldNoToken } from '../write.ts';
import { exposuresOf, insertExposure, releaseExposure, roomToClose, roomToOpen } from './exposures.ts';
import { mustAgree, mustFit, readOpen } from './open-body.ts';
import { markToMark, noQuote, quoteOf } from './quote.ts';
import { ErrorAnswer, type OptionsVenue, UnreadableAnswer } from './venue.ts';

const unknownInstrument = (name: string) =>
  new Refusal('unknown_instrument', `${name} is not on the options venue's live list`);

/** `POST /api/agent/options/open`: a row held from now on, with the venue's quote of this instant. */
export async function openExposure(parts: AgentParts, call: AgentCall): Promise<RouteReply> {
  const { db } = parts;
  const { mint, agent } = call.session;
  const body = readOpen(call.context.body);
  const { instrument, direction, size, reason } = body;
  await mustHoldNoToken(parts, [reason, instrument, body.underlying]);
  await mustTradeOptions(parts, call.policy);
  return inVenueTurn(parts, mint, async () => {
    await roomToOpen(db, mint, instrument, direction, await databaseTime(db));
    const venue = venueOf(parts);
    const contract = await venue.instrument(instrument, call.context.now);
    if (contract === null || !contract.live) throw unknownInstrument(instrument);
    mustAgree(body, contract);
    mustFit(size, contract);
    const ticker = await venue.ticker(instrument);
    if (ticker === null) throw unknownInstrument(instrument);
    const row = {
      ...{ mint, agent, instrument, direction, size, reason },
      underlying: contract.underlying,
      optionType: contract.optionType,
      strike: contract.strike,
      expiry: isoTime(contract.expiry),
      openQuote: quoteOf(ticker, direction, parts.optionsVenueId),
    };
    const stored = await inOneWrite(parts, call, noFurtherReads, async (tx, now) => {
      await roomToOpen(tx, mint, instrument, direction, now);
      return insertExposure(tx, row, now);
    });
    return { status: 201, body: stored };
  });
}

/** `POST /api/agent/options/close`: releases a row with a fresh quote, or without one where the venue has none. */
export async function closeExposure(parts: AgentParts, call: AgentCall): Promise<RouteReply> {
  const { db } = parts;
  const { mint } = call.session;
  const positionId = stringOf(call.context.body, 'positionId');
  const reason = textOf(call.context.body, 'reason');
  await mustHoldNoToken(parts, [reason]);
  await mustTradeOptions(parts, call.policy);
  return inVenueTurn(parts, mint, async () => {
    const held = await roomToClose(db, mint, positionId, await databaseTime(db));
    const { direction } = held;
    const quote = await releaseQuote(parts, held, call.context.now);
    const position = await inOneWrite(parts, call, noFurtherReads, async (tx, now) => {
      await roomToClose(tx, mint, positionId, now);
      return releaseExposure(tx, held, reason, quote, now);
    });
    const body: ReleaseResponse = {
      position,
      markToMark: markToMark(direction, position.openQuote, quote),
    };
    return { status: 200, body };
  });
}

/** A release needs no quote: no answer of the venue ever holds one up, only a venue that does not answer at all. */
async function releaseQuote(
  parts: AgentParts,
  { instrument, direction }: { instrument: string; direction: Direction },
  now: number,
): Promise<OptionQuote> {
  const { optionsVenueId } = parts;
  const venue = venueOf(parts);
  const none = (reason: string) => noQuote(reason, direction, optionsVenueId);
  try {
    const contract = await venue.instrument(instrument, now, 'row');
    const ticker = contract?.live === true ? await venue.ticker(instrument, 'row') : null;
    return ticker === null
      ? none(`${instrument} was no longer live at the options venue`)
      : quoteOf(ticker, direction, optionsVenueId);
  } catch (error) {
    if (error instanceof UnreadableAnswer)
      return none(`what the options venue answered of ${instrument} could not be read`);
    if (error instanceof ErrorAnswer)
      return none(`the options venue answered error ${error.venueCode} of ${instrument}`);
    throw error;
  }
}

/** 200 rows with the longest reasons are a few MB, printed in one go. Offsets have no limit: every row is on a page. */
const POSITIONS_PAGE = { fallback: 200, max: 200, maxOffset: Number.MAX_SAFE_INTEGER };

const STATUSES: Record<string, StatusFilter> = {
  held: 'held',
  open: 'held',
  released: 'released',
  closed: 'released',
  all: 'all',
};

/** `GET /api/agent/options/positions`: the rows of the session's agent, newest first; `Link` leads to the next page. */
export async function listExposures(parts: AgentParts, call: AgentCall): Promise<RouteReply> {
  const { mint } = call.session;
  const { query } = call.context;
  const page = pageOf(query, POSITIONS_PAGE);
  const asked = query.get('status') ?? 'held';
  const status = Object.hasOwn(STATUSES, asked) ? STATUSES[asked] : undefined;
  if (status === undefined)
    throw new Refusal('invalid_request', `status must be one of ${Object.keys(STATUSES).join(', ')}`);
  await mustTradeOptions(parts, call.policy);
  const { items, hasMore } = await exposuresOf(parts.db, call.session, status, page);
  const body: ExposuresResponse = { mint, status, items };
  const next = `?status=${status}&limit=${page.limit}&offset=${page.offset + page.limit}`;
  return { status: 200, body, ...(hasMore ? { headers: { Link: `<${next}>; rel="next"` } } : {}) };
}

/** Ten opens are twenty requests to the venue, which takes five a second, also from other policies. */
const TURN_WAIT_MS = 25_000;
/** The `prepare` of an exposure, which needs nothing else of the chain. */
const noFurtherReads = async () => null;

/** Runs a policy's exposure requests one after another, each with its requests to the venue. @throws Refusal busy */
function inVenueTurn<T>({ inTurn }: AgentParts, mint: string, work: () => Promise<T>): Promise<T> {
  return inTurn(`venue ${mint}`, work, {
    waitMs: TURN_WAIT_MS,
    tooLate: () =>
      new Refusal('busy', 'too many requests of this policy wait for the options venue; try again in 5 s', 5),
  });
}

async function mustTradeOptions({ chain }: AgentParts, policy: LivePolicy): Promise<void> {
  if (!(await chain.tradesOptions(policy)))
    throw new Refusal('not_an_options_policy', 'the origin of this policy does not carry the OPTION bit');
}

function venueOf({ venue }: AgentParts): OptionsVenue {
  if (venue === null)
    throw new Refusal('venue_unreachable', 'no options venue is configured; nothing was stored');
  return venue;
}
