import {
  NO_PROTOCOL_HISTORY,
  type ProtocolHistoryRows,
} from '../../../clickhouse/queries/history/protocol.ts';
import { HOUR_S, isoTime } from '../../../schemas/units.ts';
import type { ReadSettings } from '../../deps/settings.ts';
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
import { type BegunAt, begunBefore, whichBefore } from './policies-begun.ts';

/** So many steps of 40 assets are made in 15 ms. */
const STEPS_A_PIECE = 24;

/** `GET /analytics/history`, as it is printed. */
export function protocolHistory(view: View, settings: ReadSettings, range: Range): RouteReply {
  const { from, to, step } = range;
  const head = printedHead({ from: isoTime(from), to: isoTime(to), step }, 'items');
  const last = range.unfinished ? printedItem(itemOfNow(view, settings, to)) : '';
  if (range.ends.length === 0) return { status: 200, body: Buffer.from(`${head}${printedList(last)}`) };
  const ends = range.ends.map((end) => end / HOUR_S);
  const steps = printedEnds(view, settings, ends, { each: STEP_S[step] / HOUR_S, isLast: last === '' });
  return { status: 200, body: Buffer.from(`${head}[\n`), rest: [...steps, taggedBytes(`${last}\n  ]\n}\n`)] };
}

function itemOfNow(view: View, settings: ReadSettings, to: number) {
  const quoteAt = createQuoteAt(view, settings);
  const byQuote = view
    .one('protocolNow')
    .map((row) => quoteAt(row.quote_mint, Number(row.policies), row, () => null));
  return { time: isoTime(to), byQuote };
}

/** Who asks for another range is sent what was printed for those before him. @param isLast nothing follows */
function printedEnds(
  view: View,
  settings: ReadSettings,
  ends: readonly number[],
  { each, isLast }: { each: number; isLast: boolean },
): TaggedBytes[] {
  const passed = passedHours(view);
  const newest = Math.floor(view.now / 1000 / HOUR_S / each) * each;
  const [first, last] = [ends[0] as number, ends.at(-1) as number];
  // Once for a block: a piece that looked for it would be made anew with every write to a policy.
  const begunPolicies = view.one('protocolBegun');
  const blocks = blocksOf(ends, each, passed).map((block) => ({
    ...block,
    which: whichBefore(begunPolicies, block.first + (block.passed - 1) * each),
  }));
  // All of them before anything is printed: what is lacking is asked for together.
  for (const block of blocks) sumsIn(view, block, each);
  const numberOf = (begin: number, end: number) => Math.floor((end - begin) / each) + 1;
  return blocks.flatMap((block) => {
    const inBlock = endsIn(block.first, Math.min(block.last, newest), each);
    const pieces: TaggedBytes[] = [];
    for (let at = 0; at < inBlock.length; at += STEPS_A_PIECE) {
      const own = inBlock.slice(at, at + STEPS_A_PIECE);
      const [begin, end] = [own[0] as number, own.at(-1) as number];
      if (end < first || begin > last) continue;
      const begun = begunAt(view, own, each);
      const name = `history ${each} ${begin} ${own.length} ${Math.max(0, block.passed - at)} ${begun.tag}`;
      const printed = view.longPart(name, NO_STEPS, () => {
        const { sums, cover } = sumsIn(view, block, each);
        return printedSteps(
          protocolItems(view, settings, { ...{ block, each, passed, ends: own }, begun, sums, cover }),
        );
      });
      const skipped = Math.max(0, Math.ceil((first - begin) / each));
      const until = Math.min(own.length, numberOf(begin, last));
      const isEnd = isLast && own[until - 1] === last;
      pieces.push(stepsBetween(printed, skipped, until, isEnd));
    }
    return pieces;
  });
}

/** They are of the policies that had begun: where one of these is closed, or turns up, that is another sum. */
function sumsIn(view: View, block: Block & { which: string }, each: number): ProtocolHistoryRows {
  const { first, last, passed, which } = block;
  if (which === '') return NO_PROTOCOL_HISTORY;
  return view.get('protocolHistory', pageKey('', first, last, each, passed, which));
}

/** Policies come every now and then; what is printed of a step stays where none has come before it. */
function begunAt(view: View, ends: readonly number[], each: number): BegunAt & { tag: string } {
  return view.part(`begun ${each} ${ends[0]} ${ends.length}`, () => {
    const policies = view.one('protocolBegun').map((row) => ({
      mint: row.quote_mint,
      counts: ends.map((end) => begunBefore(row, end)),
    }));
    const which = whichBefore(view.one('protocolBegun'), ends.at(-1) ?? 0);
    return { policies, tag: tagOf(JSON.stringify(policies), which) };
  });
}
