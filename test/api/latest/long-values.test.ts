import { expect, test } from 'vitest';
import { STEPS_A_BLOCK } from '../../../api/history/blocks.ts';
import { createCells } from '../../../api/latest/cells/cells.ts';
import { withText } from '../../../api/latest/cells/texts.ts';
import { KINDS } from '../../../api/latest/kinds/kinds.ts';
import { foldSums } from '../../../clickhouse/queries/history/folded-sums.ts';
import { createRandom } from '../../../devnet/program/state/random.ts';
import { key } from '../support/rows.ts';

/** The room that an API has for each kind. */
const MAX_BYTES = 16 * 1024 * 1024;
const ASSETS = 250;

test('the hourly sums of 250 quote assets over six weeks fit into memory together', () => {
  const random = createRandom('long-values');
  const amount = () => String(random.int(1_000_000_000, 90_000_000_000));
  const time = (hour: number) => String(1_790_000_000 + hour * 3_600 + random.int(0, 3_599));
  const mints = Array.from({ length: ASSETS }, (_, n) => key(`quote ${n}`));
  const sumsAt = (hour: number) =>
    mints.map((quote_mint) => ({
      ...{ step: hour, quote_mint, policies: '3', hwm: amount(), fees_claimed: amount() },
      ...{ profit_swept: amount(), venue_count: '4', policies_time: time(hour), bankrolls: '3' },
      ...{ bankroll: amount(), bankroll_time: time(hour), venues: '4', lost_venues: '0', unattested: '0' },
      ...{ attested: amount(), attested_time: time(hour), locals: '0', local_balances: '0', local: '0' },
      local_time: null,
    }));
  // Different amounts each hour, as for busy assets; a few are repeated, since only their length matters.
  const few = Array.from({ length: 6 }, (_, hour) => foldSums(JSON.stringify(sumsAt(hour))));
  const block = {
    steps: Array.from({ length: STEPS_A_BLOCK }, (_, at) => few[at % few.length] as Buffer),
    cover: { hours: [], holes: [] },
  };
  const cells = createCells(MAX_BYTES);
  const blocks = Array.from({ length: Math.ceil(990 / STEPS_A_BLOCK) + 1 }, (_, n) => `block ${n}`);
  for (const name of blocks)
    cells.set(
      'protocolHistory',
      name,
      withText({ value: block, until: Number.POSITIVE_INFINITY }, KINDS.protocolHistory.sizeOf),
      0,
    );
  expect(blocks.filter((name) => cells.has('protocolHistory', name))).toEqual(blocks);
});
