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

/** Steps for which policies that have begun are counted together: a block has whole stretches of them. */
const STEPS_A_STRETCH = 24;
/** Of a quote asset at the end of a step: so many are printed in some 3 ms. */
const ROWS_A_PIECE = 240;

/** `GET /analytics/history`, as it is printed. */
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

/** Its time alone is another a second later. */
function printedNow(view: View, { launchpadVenueId }: ReadSettings, to: number): string {
  const printed = view.longPart('history of now', '', () => {
    const quoteAt = createQuoteAt(view);
    const byQuote = view.one('protocolNow').map((row) => {
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
  /** The last hour that is passed. */
  passed: number;
  /** Whether nothing follows them. */
  isLast: boolean;
}

/** Whose sums they are is known. */
type BegunBlock = Block & { which: string };

/** Who asks for another range is sent what was printed for those before him. */
function printedEnds(
  view: View,
  settings: ReadSettings,
  ends: readonly number[],
  wanted: Ends,
): TaggedBytes[] {
  const { first, last, each, passed } = wanted;
  const newest = Math.floor(view.now / 1000 / HOUR_S / each) * each;
  // Once for a block: a piece that looked for it would be made anew with every write to a policy.
  const blocks = blocksOf(ends, each, passed).map((block) => ({
    ...block,
    which: whichIn(view, block, each),
  }));
  // All of them before anything is printed: what is lacking is asked for together.
  for (const block of blocks) sumsIn(view, block, each);
  const names = namesIn(view, settings);
  return blocks.flatMap((block) => {
    const inBlock = endsIn(block.first, Math.min(block.last, newest), each);
    return chunks(inBlock, STEPS_A_STRETCH).flatMap((stretch) => {
      const [begin, end] = [stretch[0] as number, stretch.at(-1) as number];
      if (end < first || begin > last) return [];
      const name = `begun ${each} ${begin} ${stretch.length} ${names.tag}`;
      const begun = view.longPart<BegunAt | null>(name, null, () =>
        begunAt(view.one('protocolBegun'), stretch, names.byMint),
      );
      // Nobody is given what is made without it.
      return begun === null ? [] : printedStretch(view, wanted, block, stretch, begun);
    });
  });
}

/** In pieces that are the same whatever range is asked for. */
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

/** They are of the policies that had begun: where one of these is closed, or turns up, that is another sum. */
function sumsIn(view: View, block: BegunBlock, each: number): ProtocolHistoryRows {
  const { first, last, passed, which } = block;
  if (which === '') return NO_PROTOCOL_HISTORY;
  return view.get('protocolHistory', pageKey('', first, last, each, passed, which));
}

function whichIn(view: View, { first, passed }: Block, each: number): string {
  const last = first + (passed - 1) * each;
  return view.part(`which begun ${last}`, () => whichBefore(view.one('protocolBegun'), last));
}

/** Of all quote assets, looked up once: a piece is printed again where one that it names has another name. */
function namesIn(view: View, { launchpadVenueId }: ReadSettings) {
  return view.part('names of history', () => {
    const mints = view.one('protocolBegun').map((row) => row.quote_mint);
    const byMint = new Map(mints.map((mint) => [mint, quoteNameAt(view, launchpadVenueId, mint)]));
    return { byMint, tag: tagOf(JSON.stringify([...byMint])) };
  });
}
