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
/** Closing by the process that opened the gap: it names the first slot, and closes whatever is left. */
const end = record(FROM, true);
/** Closing by a backfill that has read up to there. */
const readTo = (toSlot: bigint) => record(toSlot, true);

function placeAfter(...records: GapRecord[]): GapPlace {
  let place: GapPlace | undefined;
  for (const next of records) place = gapAfter(place, next);
  return place as GapPlace;
}

describe('a gap', () => {
  test('is narrowed, closed and reopened by records of ingest', () => {
    expect(placeAfter(open(99n), open(50n))).toMatchObject({ toSlot: 50n, closed: false });
    expect(placeAfter(open(99n), open(50n), end).closed).toBe(true);
    expect(placeAfter(open(99n), end, open(120n))).toMatchObject({ toSlot: 120n, closed: false });
    expect(placeAfter(open(99n), end, open(50n)).closed).toBe(false);
  });

  test('is closed by a backfill that has read at least up to its last slot', () => {
    expect(placeAfter(open(99n), readTo(99n)).closed).toBe(true);
    expect(placeAfter(open(99n), open(50n), readTo(60n)).closed).toBe(true);
  });

  test('stays open if it was widened beyond what a backfill has read', () => {
    expect(placeAfter(open(99n), open(200n), readTo(150n))).toMatchObject({ toSlot: 200n, closed: false });
  });

  test('once closed by a backfill, is not reopened by ingest within the slots that the backfill has read', () => {
    expect(placeAfter(open(99n), readTo(150n), open(40n)).closed).toBe(true);
    expect(placeAfter(open(99n), readTo(150n), open(40n), end).closed).toBe(true);
    expect(placeAfter(open(99n), readTo(150n), end, open(120n)).closed).toBe(true);
  });

  test('once closed by a backfill, is reopened by a record that reaches beyond what was read', () => {
    expect(placeAfter(open(99n), readTo(150n), open(151n))).toMatchObject({ toSlot: 151n, closed: false });
  });

  test('once closed by a backfill, is reopened for an unreadable transaction of its first slot', () => {
    expect(placeAfter(open(99n), readTo(150n), unread)).toMatchObject({ toSlot: FROM, closed: false });
    expect(placeAfter(open(99n), readTo(150n), unread, end).closed).toBe(true);
  });

  test('shrinks to its first slot after a backfill could not read a transaction there, unless it reaches further', () => {
    const unreadUpTo = (toSlot: bigint): GapRecord => ({ ...unread, toSlot });
    expect(placeAfter(open(200n), unreadUpTo(150n))).toMatchObject({ toSlot: 200n, closed: false });
    for (const before of [[], [open(99n)], [open(150n)], [open(99n), readTo(150n)], [open(99n), end]])
      expect(placeAfter(...before, unreadUpTo(150n))).toMatchObject({
        ...{ toSlot: FROM, closed: false, obstacle: { type: 'unread', signature: 'S' } },
      });
    expect(placeAfter(open(200n), unread)).toMatchObject({ toSlot: FROM, closed: false });
  });

  test('that names an unreadable transaction is closed by a backfill only if that names the same one', () => {
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

  test('that names a transaction and spans several slots, as stored by older versions, needs no name to be closed', () => {
    const kept: GapPlace = { ...open(150n), before: null, obstacle: { type: 'unread', signature: 'S' } };
    expect(gapAfter(kept, readTo(149n)).closed).toBe(false);
    expect(gapAfter(kept, readTo(150n)).closed).toBe(true);
    expect(gapAfter({ ...kept, toSlot: FROM }, readTo(150n)).closed).toBe(false);
  });

  test('once closed by two backfills, stays closed up to the slot that the further one has read', () => {
    expect(placeAfter(open(99n), readTo(150n), readTo(120n), open(140n)).closed).toBe(true);
  });
});

test('gapRows separates records that open or widen a gap, written before the facts, from the rest, written after', () => {
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
