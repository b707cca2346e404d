import { expect, test } from 'vitest';
import type { Coin } from '../../../api/coin/find.ts';
import { coinHistory } from '../../../api/history/coin.ts';
import { attempt } from '../../../api/latest/attempt.ts';
import { createCells } from '../../../api/latest/cells/cells.ts';
import { withText } from '../../../api/latest/cells/texts.ts';
import type { IndexState } from '../../../api/latest/index-state.ts';
import { createAnswerParts } from '../../../api/latest/memos/answer-parts.ts';
import { createRowParts } from '../../../api/latest/memos/row-parts.ts';
import { createTimeSlices } from '../../../api/latest/time-slices.ts';
import { openView, type View } from '../../../api/latest/view.ts';
import type { ClosingState } from '../../../clickhouse/queries/history/closing-states.ts';
import type { CoinHistoryRows } from '../../../clickhouse/queries/history/coin.ts';
import { HOUR_S, isoTime } from '../../../schemas/units.ts';
import { key } from '../support/rows.ts';
import { looked } from './support/looked.ts';
import { address, bankroll, H, policy, START } from './support/stage.ts';

const FOR_EVER = Number.POSITIVE_INFINITY;
const SLOTS_AN_HOUR = 9_000;
/** Reads of a row's properties that count as a millisecond. */
const LOOKS_A_MS = 20_000;

const state = (account: string, hour: number, row: object) =>
  ({
    ...{ address: account, hour: H + hour, seen: String(SLOTS_AN_HOUR * hour + 5), exists: 1 },
    ...{ block_time: String(START + hour * HOUR_S), held_in: 'policies', hwm: '1', fees_claimed: '2' },
    ...{ profit_swept: '3', tokens_burned: '4', ...row },
  }) as unknown as ClosingState;

/** The history of a policy with so many remote accounts, one of which is attested anew in each hour. */
function longHistory(accounts: number, ends: number) {
  const venue = (n: number, hour: number) =>
    state(`venue ${n}`, hour, {
      ...{ held_in: 'venue_accounts', kind: 'Remote', revoked: 0, token_account: 'none' },
      ...{ remote_equity: String(hour * 1_000 + 1), remote_asof: String(START + hour * HOUR_S) },
    });
  const { rows: all, counted } = looked([
    state(address, 0, { venue_count: accounts }),
    ...Array.from({ length: accounts }, (_, n) => venue(n, 0)),
    ...Array.from({ length: ends - 1 }, (_, hour) => venue((hour + 1) % accounts, hour + 1)),
  ]);
  const states = Map.groupBy(all, (row) => row.address);
  const rows: CoinHistoryRows = {
    ...{ states, first: [], unseen: [], carried: [], prices: [], sums: [] },
    cover: {
      hours: Array.from({ length: ends + 2 }, (_, hour) => ({
        hour: H + hour,
        slot: String(SLOTS_AN_HOUR * hour),
      })),
      holes: [],
    },
  };
  const cells = createCells(1_000_000);
  const parts = createAnswerParts(1_000_000);
  const memory = {
    cells,
    parts,
    rowParts: createRowParts(1_000),
    clock: 0,
    itself: { stamp: 0, until: FOR_EVER, usedAt: 0 },
    state: null as never,
    ranked: null as never,
  };
  const whole = {
    ...{ historyReason: null, openGaps: [], incomplete: { undatedEvents: [], policies: [] } },
    followedTime: isoTime(START + (ends + 1) * HOUR_S),
  } as unknown as IndexState;
  const slices = createTimeSlices(() => counted.times / LOOKS_A_MS);
  const range = {
    ...{ step: 'hour' as const, from: START, to: START + ends * HOUR_S, unfinished: false, isOfNow: false },
    ends: Array.from({ length: ends }, (_, at) => START + (at + 1) * HOUR_S),
  };
  /** The answer, if it is ready, and how often rows were read meanwhile. */
  const turn = () => {
    const before = counted.times;
    slices.begin();
    const reading = openView(memory, 0, new Map(), slices);
    const told: Partial<Record<string, unknown>> = {
      ...{ config: undefined, prices: [], coinHistory: rows, venueAccounts: [] },
    };
    const get: View['get'] = (kind, of) => {
      if (cells.get(kind, of) === undefined)
        cells.set(kind, of, withText({ value: told[kind], until: FOR_EVER }), 0);
      return reading.view.get(kind, of);
    };
    const view: View = { ...reading.view, get, single: (kind) => get(kind, ''), state: () => whole };
    const coin = {
      mint: key('m'),
      policy,
      view,
      settings: { launchpadProgramId: key('launchpad'), pricesFrom: [] },
    } as unknown as Coin;
    const answer = attempt(() => coinHistory(coin, range), reading);
    return { items: answer?.value.items ?? null, looks: counted.times - before };
  };
  return { turn };
}

/** The accounts' total equity at the end of an hour. */
const equityAt = (accounts: number, end: number): string =>
  Array.from({ length: accounts }, (_, n) => {
    const attested = n >= end ? 0 : end - 1 - ((end - 1 - n) % accounts);
    return BigInt(attested * 1_000 + 1);
  })
    .reduce((sum, one) => sum + one, 0n)
    .toString();

test.each([
  ['few venue accounts', 5, 100],
  ['many venue accounts', 300, 200],
])(
  'the history of a policy with %s sums their attested equity, computed in short time slices',
  (_, accounts, ends) => {
    const { turn } = longHistory(accounts, ends);
    const turns = [turn()];
    while (turns.at(-1)?.items === null && turns.length < 1_000) turns.push(turn());
    const items = turns.at(-1)?.items ?? [];
    expect(items.map(({ attestedEquity }) => attestedEquity.value)).toEqual(
      Array.from({ length: ends }, (__, at) => equityAt(accounts, at + 1)),
    );
    expect(items.at(-1)).toMatchObject({ hwm: { value: '1' }, bankroll: { absent: true } });
    expect(items.at(-1)?.bankroll.reason).toContain(bankroll);
    const looks = turns.map((one) => one.looks);
    expect(Math.max(...looks)).toBeLessThan(250_000);
    // Intermediate results are kept from one time slice to the next.
    expect(looks.reduce((sum, one) => sum + one)).toBeLessThan((accounts + 5) * ends * 20);
  },
);
