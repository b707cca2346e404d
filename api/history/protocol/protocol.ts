import {
  NO_PROTOCOL_HISTORY,
  type ProtocolHistoryRows,
} from '../../../clickhouse/queries/history/protocol.ts';
import { chunks } from '../../../runtime/chunks.ts';
import { HOUR_S, isoTime } from '../../../schemas/units.ts';
import type { ReadSettings } from '../../deps/settings.ts';
import { quoteNameAt } from '../../figures/quotes.ts';
import { printedHead, printedItem, printedList } from '../../http/answers/printed.ts';
import { NO_STEPS, printedSteps, stepsBetween } from '../../http/answers/printed-steps.ts';
import { type TaggedBytes, taggedBytes, tagOf } from '../../http/answers/tagged-bytes.ts';
import type { RouteReply } from '../../http/route.ts';
import { pageKey } from '../../latest/kinds/kind.ts';
import type { View } from '../../latest/view.ts';
import { type Block, blocksOf, endsIn } from '../blocks.ts';
import { passedHours } from '../passed-hours.ts';
import { type Range, STEP_S } from '../range.ts';
import { createQuoteAt, protocolItems } from './items.ts';
import { type BegunAt, begunAt, whichBefore } from './policies-begun.ts';

/** Steps whose begun policies are counted together, a stretch: a block has a whole number of stretches. */
const STEPS_A_STRETCH = 24;
/** Rows of a quote asset at the end of a step: so many are printed in some 3 ms. */
const ROWS_A_PIECE = 240;

/** `GET /analytics/history`, already printed. */
export function protocolHistory(view: View, settings: ReadSettings, range: Range): RouteReply {
  const { from, to, step } = range;
  const head = printedHead({ from: isoTime(from), to: isoTime(to), step }, 'items');
  const last = range.unfinished ? printedNow(view, settings, to) : '';
  if (range.ends.length === 0) return { status: 200, body: Buffer.from(`${head}${printedList(last)}`) };
  const ends = range.ends.map((end) => end / HOUR_S);
  const steps = printedEnds(view, settings, ends, {
    ...{ first: ends[0] as number, last: ends.at(-1) as number, each: STEP_S[step] / HOUR_S },
    ...{ passed: passedHours(view), isLast: last === '' },
  });
  return { status: 200, body: Buffer.from(`${head}[\n`), rest: [...steps, taggedBytes(`${last}\n  ]\n}\n`)] };
}

/** The item of the step that is not over. A second later only its time differs, so that is filled in last. */
function printedNow(view: View, { launchpadVenueId }: ReadSettings, to: number): string {
  const printed = view.longPart('history of now', '', () => {
    const quoteAt = createQuoteAt(view);
    const byQuote = view.single('protocolNow').map((row) => {
      const quote = { mint: row.quote_mint, ...quoteNameAt(view, launchpadVenueId, row.quote_mint) };
      return quoteAt(quote, Number(row.policies), row, () => null);
    });
    return printedItem({ time: '', byQuote });
  });
  return printed.replace('"time": ""', `"time": "${isoTime(to)}"`);
}

/** The ends of steps that are asked for, in hours since 1970, and how far they are apart. */
interface Ends {
  first: number;
  last: number;
  each: number;
  /** The hour that the index has passed (`passedHours`), which need not be the end of a step. */
  passed: number;
  /** Whether no item follows these ends. */
  isLast: boolean;
}

/** A block, and a tag of the policies that its sums are of. */
type BegunBlock = Block & { which: string };

/** Requests for different ranges share what was printed. */
function printedEnds(
  view: View,
  settings: ReadSettings,
  ends: readonly number[],
  wanted: Ends,
): TaggedBytes[] {
  const { first, last, each, passed } = wanted;
  const newest = Math.floor(view.now / 1000 / HOUR_S / each) * each;
  // Once for a block, and not inside of a piece: that would be made anew with every write to a policy.
  const blocks = blocksOf(ends, each, passed).map((block) => ({
    ...block,
    which: whichIn(view, block, each),
  }));
  // All sums before anything is printed, so that what memory lacks is loaded together.
  for (const block of blocks) sumsIn(view, block, each);
  const names = namesIn(view, settings);
  return blocks.flatMap((block) => {
    const inBlock = endsIn(block.first, Math.min(block.last, newest), each);
    return chunks(inBlock, STEPS_A_STRETCH).flatMap((stretch) => {
      const [begin, end] = [stretch[0] as number, stretch.at(-1) as number];
      if (end < first || begin > last) return [];
      const name = `begun ${each} ${begin} ${stretch.length} ${names.tag}`;
      const begun = view.longPart<BegunAt | null>(name, null, () =>
        begunAt(view.single('protocolBegun'), stretch, names.byMint),
      );
      // An answer without it is not sent, but made again.
      return begun === null ? [] : printedStretch(view, wanted, block, stretch, begun);
    });
  });
}

/** Prints a stretch in pieces that are the same whatever range is asked for. */
function printedStretch(
  view: View,
  { first, last, each, passed, isLast }: Ends,
  block: BegunBlock,
  stretch: readonly number[],
  begun: BegunAt,
): TaggedBytes[] {
  const numberOf = (begin: number, end: number) => Math.max(0, Math.floor((end - begin) / each) + 1);
  const steps = Math.max(1, Math.floor(ROWS_A_PIECE / begun.policies.length));
  return chunks(stretch, steps).flatMap((ends) => {
    const [begin, end] = [ends[0] as number, ends.at(-1) as number];
    if (end < first || begin > last) return [];
    const known = Math.min(ends.length, numberOf(begin, passed));
    const name = `history ${each} ${begin} ${ends.length} ${known} ${begun.tag}`;
    const printed = view.longPart(name, NO_STEPS, () => {
      const rows = sumsIn(view, block, each);
      return printedSteps(protocolItems(view, { ...rows, block, each, passed, ends, begun }));
    });
    const skipped = Math.max(0, Math.ceil((first - begin) / each));
    const until = Math.min(ends.length, numberOf(begin, last));
    return [stepsBetween(printed, skipped, until, isLast && ends[until - 1] === last)];
  });
}

/**
 * The sums of the policies that had begun: where one of these is closed, or another turns up, they have another key.
 */
function sumsIn(view: View, block: BegunBlock, each: number): ProtocolHistoryRows {
  const { first, last, passed, which } = block;
  if (which === '') return NO_PROTOCOL_HISTORY;
  return view.get('protocolHistory', pageKey('', first, last, each, passed, which));
}

function whichIn(view: View, { first, passed }: Block, each: number): string {
  const last = first + (passed - 1) * each;
  return view.part(`which begun ${last}`, () => whichBefore(view.single('protocolBegun'), last));
}

/** The names of all quote assets, looked up once: a piece is printed again only where a name that it holds changes. */
function namesIn(view: View, { launchpadVenueId }: ReadSettings) {
  return view.part('names of history', () => {
    const mints = view.single('protocolBegun').map((row) => row.quote_mint);
    const byMint = new Map(mints.map((mint) => [mint, quoteNameAt(view, launchpadVenueId, mint)]));
    return { byMint, tag: tagOf(JSON.stringify([...byMint])) };
  });
}
