import { expect, test } from 'vitest';
import type { LogBatch } from '../../../ingest/log/port.ts';
import { advance, type Progress } from '../../../ingest/materialise/progress.ts';
import type { MarkerRecord } from '../../../schemas/records.ts';
import { batchOf, logOf } from './support/records.ts';

const START: Progress = {
  ...{ topic: 'accounts', partition: 0, offset: -1n, slot: 0n, blockTime: null, lastSignature: null },
  ...{ highest: -1n, writtenAt: null, followed: null, gaps: new Map(), lateBatches: 0, assignment: null },
  gapsAhead: new Map(),
};
const NO_EVENTS = {
  ...{ facts: { events: [], derived: [] }, struck: { events: [] } },
  ...{ records: { recomputes: [] }, gaps: { opened: [], progressed: [] } },
};
const timeAt = (slot: bigint) => 1_700_000_000 + Number(slot);
const marker = (slot: bigint, followed?: MarkerRecord['followed']): MarkerRecord => ({
  ...{ kind: 'marker', slot, parent: slot - 1n, blockTime: timeAt(slot) },
  ...(followed === undefined ? {} : { followed }),
});
const undated = (slot: bigint): MarkerRecord => ({ ...marker(slot), blockTime: null });
const behind = (slot: bigint, followed: bigint, blockTime: number | null = null) =>
  marker(slot, { slot: followed, blockTime });

/** Slot and time up to which followed addresses are complete, with one batch and with a batch for each record. */
function followedAfter(...records: MarkerRecord[]): Progress['followed'][] {
  const entries = logOf(records);
  const after = (cut: LogBatch[]) =>
    cut.reduce((progress, batch) => advance(progress, batch, 0, NO_EVENTS), START).followed;
  return [after([batchOf('accounts', entries)]), after(entries.map((entry) => batchOf('accounts', [entry])))];
}
const both = (slot: bigint, blockTime: number | null) => Array(2).fill({ slot, blockTime });

test('followed addresses at a slot of unknown time keep the latest time known before', () => {
  expect(followedAfter(marker(10n), behind(11n, 10n))).toEqual(both(10n, timeAt(10n)));
  const next = [behind(12n, 10n), behind(12n, 10n), behind(13n, 11n)];
  expect(followedAfter(marker(10n), behind(11n, 10n), ...next)).toEqual(both(11n, timeAt(10n)));
  const timed = behind(14n, 12n, timeAt(12n));
  expect(followedAfter(marker(10n), timed, behind(15n, 12n))).toEqual(both(12n, timeAt(12n)));
  expect(followedAfter(marker(10n), behind(11n, 10n), timed)).toEqual(both(12n, timeAt(12n)));
});

test('followed addresses at a lower slot than before, or with nothing known before, have no time', () => {
  expect(followedAfter(behind(11n, 10n))).toEqual(both(10n, null));
  expect(followedAfter(marker(10n), behind(11n, 9n))).toEqual(both(9n, null));
  expect(followedAfter(marker(10n), behind(14n, 12n, timeAt(12n)), behind(15n, 11n))).toEqual(
    both(11n, null),
  );
  // A marker below the partition's last one is ignored.
  expect(followedAfter(marker(10n), behind(9n, 8n))).toEqual([null, null]);
});

test('a marker without a time moves the slot on and keeps the time before it', () => {
  expect(followedAfter(marker(10n), undated(11n))).toEqual(both(11n, timeAt(10n)));
  expect(followedAfter(marker(10n), undated(11n), undated(11n), undated(12n))).toEqual(
    both(12n, timeAt(10n)),
  );
  expect(followedAfter(marker(10n), undated(11n), behind(12n, 11n))).toEqual(both(11n, timeAt(10n)));
  expect(followedAfter(marker(10n), behind(12n, 9n, timeAt(9n)), undated(13n))).toEqual(
    both(13n, timeAt(9n)),
  );
  // Null: followed addresses are as far as the partition, whose own time is known, or none is known at all.
  expect(followedAfter(marker(10n), undated(11n), marker(12n))).toEqual([null, null]);
  expect(followedAfter(marker(10n), undated(10n))).toEqual([null, null]);
  expect(followedAfter(undated(10n), undated(11n))).toEqual([null, null]);
});
