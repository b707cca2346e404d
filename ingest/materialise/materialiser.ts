import { type Changes, noteKeys } from '../../clickhouse/changes.ts';
import type { Store } from '../../clickhouse/client.ts';
import { coalescing } from '../../clickhouse/coalesce.ts';
import type { NamedAccountRow } from '../../clickhouse/progress-tables.ts';
import { createAnnouncer } from '../../clickhouse/queries/progress/changes.ts';
import type { DeadLetterRecord } from '../../schemas/records.ts';
import { HISTORY_TOPICS, type LogBatch, type LogEntry } from '../log/port.ts';
import { createAppliedRows, type InFlightBatch } from './applied-rows.ts';
import { readingsByTable } from './batch-records.ts';
import { type BegunBatch, beginBatch, PartitionLostError } from './begun-batch.ts';
import type { DerivedRows } from './derived-events.ts';
import { deadLetterRow, letterSources } from './letters/dead-letters.ts';
import { type KeepLetters, keepLetters, LettersNotKeptError } from './letters/keep-letters.ts';
import { createHeldMemory } from './memory/held-memory.ts';
import { createMemory, type Memory } from './memory/memory.ts';
import { advance, type Progress, progressRow } from './progress.ts';
import { createRollups } from './rollups/recompute.ts';
import type { Touched } from './rollups/slot-intervals.ts';
import { touchedBy, touchPassedHours } from './rollups/touched-by.ts';
import { undatedRows } from './rows/facts.ts';
import { verifiedRows } from './struck-transactions.ts';
import { wholeAgainRows } from './whole-again.ts';

export interface MaterialiserOptions {
  store: Store;
  programId: Uint8Array;
  /** Called after a batch shows in every figure. */
  onApplied?: (batch: LogBatch) => void;
  /**
   * Called with what a batch changed, once its rows are stored and before those that make sums over them present again.
   */
  onChanged?: (changes: Changes) => void;
  /**
   * Called with the stored place of a partition that this process owns now and did not write last, before it writes it.
   */
  onTakenOver?: (place: Progress) => void;
  /** Appends to the log's topic of dead letters what was found in a batch; awaited before the batch counts as applied. */
  keepDeadLetters?: KeepLetters;
  /** Called with every dead letter that was kept. */
  onDeadLetter?: (letter: DeadLetterRecord) => void;
  /**
   * Set where batches are read again beside the process that owns their partition: has the owner work the sums out
   * again, and resolves once it has. Neither gaps nor the partition's place are written then.
   */
  recomputeByOwner?: (partition: number, touched: Touched) => Promise<void>;
}

/**
 * Writes batches of the log to ClickHouse. A batch that fails anywhere may be handed in again, whole or cut
 * elsewhere: every row is keyed by the identity of what it says.
 */
export function createMaterialiser(options: MaterialiserOptions): (batch: LogBatch) => Promise<void> {
  const { programId, recomputeByOwner: reread } = options;
  // Partitions are written at the same time, and their inserts go together.
  const store = coalescing(options.store);
  const recompute = createRollups(options.store);
  const keep = keepLetters(options.keepDeadLetters);
  const memory = createHeldMemory(store, () => createMemory(options.store, store, recompute));
  // Where one process owns the engine no other process reads, and changes need not be announced.
  const announce = store.exclusive ? null : createAnnouncer(options.store);
  const isReread = reread !== undefined;
  const beginning = { store, programId, memory, isReread, onTakenOver: options.onTakenOver };
  const places = createAppliedRows((rows) => store.insert('applied', rows));

  return async (batch) => {
    if (batch.entries.length === 0) return;
    const inFlight = places.begin();
    let mine = memory.now();
    try {
      await memory.verifyBeforeBatch(batch);
      mine = memory.now();
      await write(batch, mine, inFlight);
    } catch (error) {
      const saysNothing = error instanceof PartitionLostError || error instanceof LettersNotKeptError;
      if (!saysNothing) memory.failed(mine, batch, error);
      throw error;
    } finally {
      inFlight.release();
    }
  };

  /** The order matters: at any moment in between a reader finds a sum whole, or absent. */
  async function write(batch: LogBatch, mine: Memory, inFlight: InFlightBatch): Promise<void> {
    const made = await beginBatch(batch, mine, beginning);
    const { derived, names } = await writeWhatIsMissing(made);
    await writeFactsAndSums(made, derived);
    const letters = await writeStatesAndReadings(made);
    // Caches are told of changes before the sums can be present again, or they would show a cached sum from before.
    if (made.changes.size > 0) {
      await announce?.(made.changes);
      options.onChanged?.(made.changes);
    }
    mine.unannounced.announced(made.place);
    mine.named.written(names);
    await writeWhatIsWhole(made);
    if (reread === undefined) await writePlace(made, inFlight);
    for (const letter of letters) options.onDeadLetter?.(letter);
    options.onApplied?.(batch);
  }

  /** Rows that make sums absent are written before the facts that they are about. */
  async function writeWhatIsMissing(
    made: BegunBatch,
  ): Promise<{ derived: DerivedRows; names: NamedAccountRow[] }> {
    const { insert, isSoleWriter, told, facts, gaps, struck, disputed } = made;
    const { settleDerived, named } = made.memory;
    await insert('gaps', gaps.opened);
    await insert('disputed_transactions', disputed);
    await insert('stream_holes', struck.holes, ['']);
    await insert('swept_profits', told);
    await insert('incomplete_transactions', facts.incomplete);
    const derived = await settleDerived(facts, struck.takenBack, isSoleWriter);
    await insert('derived_events', derived.listed);
    await insert('undated_events', undatedRows([...facts.events, ...derived.events]));
    const names = named.rowsOf([...facts.events, ...derived.events]);
    await insert('named_accounts', names);
    return { derived, names };
  }

  async function writeFactsAndSums(made: BegunBatch, derived: DerivedRows): Promise<void> {
    const { batch, before, isSoleWriter, changes, owned, checkOwned, insert, records, facts, struck } = made;
    const events = [...facts.events, ...derived.events, ...struck.events];
    if (touchPassedHours(events, before)) noteKeys(changes, 'events_by_slot', ['']);
    await Promise.all([
      insert('events', events),
      insert('derived_events', derived.takenBack),
      insert('policy_transactions', [...facts.policyTransactions, ...struck.policyTransactions]),
    ]);
    const touched = touchedBy(facts, [...derived.events, ...struck.events], records.recomputes);
    const { partition, topic } = batch;
    const isTouched = touched.intervals.size > 0;
    if (isTouched) {
      checkOwned();
      noteKeys(changes, 'policy_totals', touched.mints.size > 0 ? touched.mints : ['']);
    }
    if (reread !== undefined) return isTouched ? reread(partition, touched) : undefined;
    if (topic !== 'transactions') return;
    const { offset: last } = batch.entries.at(-1) as LogEntry;
    const applied = before.highest;
    // A batch that is read again, cut shorter, finds all facts up to `applied` stored: its sums have that version, and
    // the engine makes them, with no span kept back.
    const isAgain = last <= applied;
    const of = { partition, offset: isAgain ? applied : last, facts: [...facts.events, ...derived.events] };
    // Facts that are kept in memory do not show what is struck out either.
    const cacheIsStale = !isSoleWriter || isAgain || struck.events.length > 0;
    await made.memory.writeSums({ ...of, touched, applied, cacheIsStale, owned }, insert);
  }

  /** Writes latest states, readings and the batch's dead letters, which it returns. */
  async function writeStatesAndReadings(made: BegunBatch): Promise<DeadLetterRecord[]> {
    const {
      batch,
      before,
      isContinuation,
      isSoleWriter,
      changes,
      insert,
      records,
      facts,
      states,
      struckOut,
    } = made;
    const { writeStates, resolvedBy } = made.memory;
    const markers = HISTORY_TOPICS.includes(batch.topic) ? records.markers : [];
    const { times, carried, unseen } = records;
    await writeStates({ states, times, carried, unseen, markers, before, isContinuation }, insert);
    await Promise.all([...readingsByTable(records.readings)].map(([table, rows]) => insert(table, rows)));
    const letters = [...records.deadLetters, ...facts.deadLetters, ...states.deadLetters];
    // Letters that were read from the topic of dead letters are not appended to it again.
    await keep(batch.topic === 'dead-letters' ? [] : letters);
    const now = Date.now();
    await insert('dead_letter_sources', letterSources(batch, letters));
    const letterRows = letters.map((letter) => deadLetterRow(letter, records.toldAt.get(letter) ?? now));
    await insert('dead_letters', letterRows);
    const { partition } = batch;
    const resolved = await resolvedBy(facts, letterRows, { partition, isSoleWriter, struck: struckOut });
    await insert('resolved_letters', resolved);
    if (resolved.length > 0) noteKeys(changes, 'dead_letters', ['']);
    return letters;
  }

  /** Rows that make sums present again are written after the sums. */
  async function writeWhatIsWhole(made: BegunBatch): Promise<void> {
    const { batch, insert, records, dated, facts, gaps, struckOut, decided } = made;
    await insert('transactions', facts.transactions);
    // After all else that is written of these events: a process that is killed before finds them undated again.
    await insert('dated_events', dated);
    const again = await wholeAgainRows(store, records.transactions, facts.transactions);
    await insert('incomplete_transactions', [...facts.decided, ...again]);
    await insert('disputed_transactions', [...struckOut, ...decided]);
    if (reread !== undefined) return;
    await insert('gaps', gaps.progressed);
    // After the gap itself: a place that is older than the gap's end has more listed than is needed, never less.
    await insert('gap_places', gaps.places);
    await insert('verified', verifiedRows(records.verified, batch.partition));
  }

  /** Writes the partition's place in the log: whatever reads it finds all that was written before it. */
  async function writePlace(made: BegunBatch, inFlight: InFlightBatch): Promise<void> {
    const { batch, memory: mine, failures, place, before, owned, lost } = made;
    // If another batch failed meanwhile, rows of this one may be lost: it is then written again as a whole.
    await memory.verifyBeforeCommit(mine, batch, failures, before.offset);
    const progress = advance(before, batch, Date.now(), made);
    // Readings show as soon as they are written: to delay their row only has the next ones come together.
    const quiet =
      !HISTORY_TOPICS.includes(batch.topic) || batch.entries.every(({ record }) => record.kind === 'marker');
    const rowAt = (at: number) => (owned() ? progressRow(progress, at) : null);
    if (!(await inFlight.applied(quiet, rowAt))) throw lost();
    mine.known.set(place, progress);
  }
}
