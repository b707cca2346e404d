import { type ChangedTable, noteKeys, noteRows } from '../../clickhouse/changes.ts';
import type { Store } from '../../clickhouse/client.ts';
import { OffsetGapError } from '../log/offset-gap.ts';
import { HISTORY_TOPICS, type LogBatch, type LogEntry } from '../log/port.ts';
import { recordsByKind } from './batch-records.ts';
import { disputedRows, struckOutRows } from './disputes/disputed-rows.ts';
import { gapRows } from './gap-rows.ts';
import { type HeldMemory, placeOf } from './memory/held-memory.ts';
import type { Memory } from './memory/memory.ts';
import { isContinuedBy, type Progress, readProgress } from './progress.ts';
import { readStates } from './rows/read-states.ts';
import { profitRows, settledFacts } from './settled-profits.ts';
import type { Insert } from './states.ts';
import { joined, struckRows } from './struck-transactions.ts';
import { addLateTimes } from './times/add-late-times.ts';

/** The partition was taken away while its batch was being written: its offset must not be committed. */
export class PartitionLostError extends Error {
  override name = 'PartitionLostError';
}

export interface BeginOptions {
  store: Store;
  programId: Uint8Array;
  memory: Pick<HeldMemory, 'now'>;
  /** The batch is read again beside the process that owns its partition. */
  isReread: boolean;
  /** Called with the stored place of a partition that this process owns now and did not write last. */
  onTakenOver: ((place: Progress) => void) | undefined;
}

export type BegunBatch = Awaited<ReturnType<typeof beginBatch>>;

/** Makes what is to be written of a batch, and the functions that write it. */
export async function beginBatch(batch: LogBatch, mine: Memory, options: BeginOptions) {
  const { store, programId, memory, isReread } = options;
  const { partition, topic } = batch;
  // Taken before the first query: a batch that fails from now on may be one whose rows this batch relies on.
  const { failures } = mine;
  const place = placeOf(batch);
  const stored = mine.known.get(place);
  const isContinuation = isContinuedBy(stored, batch);
  const before = isContinuation ? stored : await readProgress(store, topic, partition);
  if (!isContinuation && batch.owned()) options.onTakenOver?.(before);
  const first = batch.entries[0] as LogEntry;
  if (!isReread && HISTORY_TOPICS.includes(topic) && first.offset > before.offset + 1n)
    throw new OffsetGapError(place, before.offset + 1n, first.offset);
  const owned = () => batch.owned() && memory.now() === mine;
  const lost = () =>
    batch.owned()
      ? new Error(`a batch beside that of ${place} failed`)
      : new PartitionLostError(`${place} was taken away`);
  const checkOwned = () => {
    if (!owned()) throw lost();
  };
  if (!isContinuation) mine.unannounced.takenOver(place, batch);
  const changes = mine.unannounced.of(place);
  const insert: Insert = async (table, rows, keys) => {
    if (rows.length === 0) return;
    checkOwned();
    if (keys === undefined) noteRows(changes, table, rows);
    else if (keys.length > 0) noteKeys(changes, table as ChangedTable, keys);
    await store.insert(table, rows);
  };
  const all = recordsByKind(batch);
  // Gaps, markers and recomputes are left to the owner of the partition.
  const records = isReread ? { ...all, gaps: [], markers: [], recomputes: [] } : all;
  const told = profitRows(records.profits);
  // Whether no other process has written of the partition: a recompute record says that one did, and not which rows.
  const isSoleWriter = isContinuation && !isReread && records.recomputes.length === 0;
  const { transactions, undated } = await mine.timesOf(records.transactions, isSoleWriter);
  const read = await settledFacts(store, transactions, programId, { partition, told });
  const { facts: brought, undone, decided } = await mine.decide(read, transactions, isSoleWriter);
  const { facts, dated } = await addLateTimes(store, brought, undated, undone.events);
  const states = readStates(records.accounts, programId);
  const gaps = gapRows(records.gaps, before.gaps, partition);
  const verified = records.verified.map(({ record }) => record);
  const disputed = disputedRows(transactions);
  const struckOut = struckOutRows(verified);
  const struck = joined(struckRows(verified, partition), undone);
  const written = {
    ...{ batch, memory: mine, failures, place, before, isContinuation, isSoleWriter },
    ...{ changes, owned, lost, checkOwned, insert },
  };
  return { ...written, records, told, dated, facts, states, gaps, struck, struckOut, disputed, decided };
}
