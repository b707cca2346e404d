import { expect, test } from 'vitest';
import { type GapPlace, gapRows } from '../../../ingest/materialise/gap-rows.ts';
import { advance, type Progress } from '../../../ingest/materialise/progress.ts';
import type { GapRecord, LogRecord } from '../../../schemas/records.ts';
import { batchOf, logOf } from './support/records.ts';

const CLOSED: GapPlace = { toSlot: 9n, toTime: null, closed: true, before: null, obstacle: null };
const NO_EVENTS = {
  ...{ facts: { events: [], derived: [] }, struck: { events: [] } },
  ...{ records: { recomputes: [] }, gaps: { opened: [], progressed: [] } },
};
const gap = (fromSlot: bigint, change: Partial<GapRecord>): GapRecord => ({
  ...{ kind: 'gap', fromSlot, toSlot: fromSlot + 5n, toTime: null, closed: false },
  ...change,
});

test('a batch with a gap record works on a copy of the known gaps, one without shares them', () => {
  const gaps = new Map([[5n, CLOSED]]);
  const before: Progress = {
    ...{ topic: 'transactions', partition: 0, offset: -1n, slot: 0n, blockTime: null, lastSignature: null },
    ...{ highest: -1n, writtenAt: null, followed: null, gaps, lateBatches: 0, assignment: null },
    gapsAhead: new Map(),
  };
  const after = (...records: LogRecord[]) =>
    advance(before, batchOf('transactions', logOf(records)), 0, NO_EVENTS).gaps;
  expect(after({ kind: 'marker', slot: 3n, parent: 2n, blockTime: null })).toBe(gaps);
  const told = after(gap(20n, {}), gap(20n, { toSlot: 22n }));
  expect([...told.keys(), told.get(20n)?.toSlot]).toEqual([5n, 20n, 22n]);
  expect([...gaps]).toEqual([[5n, CLOSED]]);
});

test('gap rows of a batch depend on the gaps before it and on its own earlier records', () => {
  const before = new Map([[5n, CLOSED]]);
  const told = [gap(5n, { toSlot: 30n }), gap(5n, { toSlot: 20n }), gap(5n, { toSlot: 5n, closed: true })];
  const { opened, progressed } = gapRows(
    told.map((record, at) => ({ offset: BigInt(at), gap: record })),
    before,
    0,
  );
  expect(opened.map(({ to_slot }) => to_slot)).toEqual(['30']);
  expect(progressed.map(({ to_slot, closed }) => [to_slot, closed])).toEqual([
    ['20', 0],
    ['5', 1],
  ]);
  expect([...before]).toEqual([[5n, CLOSED]]);
});
