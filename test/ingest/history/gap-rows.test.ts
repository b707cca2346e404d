import { describe, expect, test } from 'vitest';
import { type GapPlace, gapAfter, gapRows } from '../../../ingest/materialise/gap-rows.ts';
import type { GapRecord } from '../../../schemas/records.ts';

const FROM = 10n;
const record = (toSlot: bigint, closed: boolean): GapRecord => ({
  kind: 'gap',
  fromSlot: FROM,
  toSlot,
  toTime: null,
  closed,
});
const open = (toSlot: bigint) => record(toSlot, false);
const unread: GapRecord = { ...open(FROM), obstacle: { type: 'unread', signature: 'S' } };
/** Closing of the process that opened the gap. */
const end = record(FROM, true);
/** Closing of a backfill that has read up to there. */
const readTo = (toSlot: bigint) => record(toSlot, true);

function placeAfter(...records: GapRecord[]): GapPlace {
  let place: GapPlace | undefined;
  for (const next of records) place = gapAfter(place, next);
  return place as GapPlace;
}

describe('a gap', () => {
  test('is narrowed, ended, and opened again by those who stream', () => {
    expect(placeAfter(open(99n), open(50n))).toMatchObject({ toSlot: 50n, closed: false });
    expect(placeAfter(open(99n), open(50n), end).closed).toBe(true);
    expect(placeAfter(open(99n), end, open(120n))).toMatchObject({ toSlot: 120n, closed: false });
    expect(placeAfter(open(99n), end, open(50n)).closed).toBe(false);
  });

  test('is closed by a backfill that has read as far as it reaches', () => {
    expect(placeAfter(open(99n), readTo(99n)).closed).toBe(true);
    expect(placeAfter(open(99n), open(50n), readTo(60n)).closed).toBe(true);
  });

  test('stays open where it was opened again further than a backfill has read', () => {
    expect(placeAfter(open(99n), open(200n), readTo(150n))).toMatchObject({ toSlot: 200n, closed: false });
  });

  test('is not opened again by its owner who still narrows what a backfill has closed', () => {
    expect(placeAfter(open(99n), readTo(150n), open(40n)).closed).toBe(true);
    expect(placeAfter(open(99n), readTo(150n), open(40n), end).closed).toBe(true);
    expect(placeAfter(open(99n), readTo(150n), end, open(120n)).closed).toBe(true);
  });

  test('is opened again behind what a backfill has read', () => {
    expect(placeAfter(open(99n), readTo(150n), open(151n))).toMatchObject({ toSlot: 151n, closed: false });
  });

  test('is opened again by a transaction of its slot that cannot be read, whatever a backfill has closed', () => {
    expect(placeAfter(open(99n), readTo(150n), unread)).toMatchObject({ toSlot: FROM, closed: false });
    expect(placeAfter(open(99n), readTo(150n), unread, end).closed).toBe(true);
  });

  test('is left as far as it reaches by a backfill that could not read a transaction of its first slot', () => {
    const unreadUpTo = (toSlot: bigint): GapRecord => ({ ...unread, toSlot });
    expect(placeAfter(open(200n), unreadUpTo(150n))).toMatchObject({ toSlot: 200n, closed: false });
    for (const before of [[], [open(99n)], [open(150n)], [open(99n), readTo(150n)], [open(99n), end]])
      expect(placeAfter(...before, unreadUpTo(150n))).toMatchObject({
        ...{ toSlot: FROM, closed: false, obstacle: { type: 'unread', signature: 'S' } },
      });
    expect(placeAfter(open(200n), unread)).toMatchObject({ toSlot: FROM, closed: false });
  });

  test('is closed by a backfill where that has read the transaction which the gap names', () => {
    const withIt: GapRecord = { ...readTo(150n), obstacle: { type: 'unread', signature: 'S' } };
    const withOther: GapRecord = { ...readTo(150n), obstacle: { type: 'unread', signature: 'T' } };
    for (const before of [[open(99n)], [open(99n), readTo(150n)]]) {
      expect(placeAfter(...before, unread, readTo(150n))).toMatchObject({ toSlot: FROM, closed: false });
      expect(placeAfter(...before, unread, withOther).closed).toBe(false);
      expect(placeAfter(...before, unread, withIt).closed).toBe(true);
      expect(placeAfter(...before, unread, withIt, open(140n), readTo(160n)).closed).toBe(true);
      expect(placeAfter(...before, unread, withIt, unread, readTo(160n)).closed).toBe(false);
    }
    expect(placeAfter(open(99n), withIt).closed).toBe(true);
  });

  test('is closed by a backfill where it reaches further than its slot, as one that names a transaction was kept before', () => {
    const kept: GapPlace = { ...open(150n), before: null, obstacle: { type: 'unread', signature: 'S' } };
    expect(gapAfter(kept, readTo(149n)).closed).toBe(false);
    expect(gapAfter(kept, readTo(150n)).closed).toBe(true);
    expect(gapAfter({ ...kept, toSlot: FROM }, readTo(150n)).closed).toBe(false);
  });

  test('that two backfills have read is closed as far as the one that read further', () => {
    expect(placeAfter(open(99n), readTo(150n), readTo(120n), open(140n)).closed).toBe(true);
  });
});

test('a record that opens or widens a gap is written before the facts behind it, the rest after them', () => {
  const records = [open(99n), open(50n), open(120n), end];
  const { opened, progressed } = gapRows(
    records.map((gap, at) => ({ offset: BigInt(at), gap })),
    new Map(),
    3,
  );
  expect(opened.map(({ log_offset, to_slot }) => [log_offset, to_slot])).toEqual([
    ['0', '99'],
    ['2', '120'],
  ]);
  expect(progressed.map(({ log_offset, closed }) => [log_offset, closed])).toEqual([
    ['1', 0],
    ['3', 1],
  ]);
});
