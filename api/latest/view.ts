import { addKey, type Cell, type Cells, type Keys, type Source } from './cells/cells.ts';
import type { IndexState } from './index-state.ts';
import { KINDS, type KindName, type ValueOf } from './kinds/kinds.ts';
import type { AnswerParts } from './memos/answer-parts.ts';
import { holds, type Memo } from './memos/memo.ts';
import type { RowParts, RowWithPart, SizedText } from './memos/row-parts.ts';
import type { RankedNeed } from './ranked/load.ts';
import type { Ranked } from './ranked/ranked.ts';
import { type StateCells, tracked } from './state-cells.ts';
import type { TimeSlices } from './time-slices.ts';

/** Memory as one answer reads it, without waiting: what it lacks is loaded, and then the answer is made once more. */
export interface View {
  /** Unix milliseconds. */
  readonly now: number;
  get<Kind extends KindName>(kind: Kind, key: string): ValueOf<Kind>;
  /** The one value of a kind that has no keys. */
  single<Kind extends KindName>(kind: Kind): ValueOf<Kind>;
  /** Rows by key; a key without a row is not in the map. */
  rows<Kind extends RowKind>(kind: Kind, keys: readonly string[]): Map<string, NonNullable<ValueOf<Kind>>>;
  state(): IndexState;
  /**
   * What `make` returns, or returned before, as long as that holds. The name has to tell everything that it is made of
   * beside this view.
   */
  part<T>(name: string, make: () => T): T;
  /**
   * The same for one of many parts that take long together. Once the others have kept the thread for long enough, it is
   * left for later: other requests run, and the answer is made once more.
   * @param none stands for it until then
   */
  longPart<T>(name: string, none: T, make: () => T): T;
  /**
   * The same for what is made of one row and of what it has in common with others.
   * @param around what they have in common, itself a part of this view: another object where its content differs
   */
  rowPart<T extends SizedText>(row: RowWithPart, around: object, make: () => T): T;
  /** The orders of all policies; `engine` where there are too many, null where the orders have to be loaded first. */
  ranked(need: RankedNeed): RankedOrders | 'engine' | null;
  /** Notes that the answer is made of this source, too, such as a row of the orders. */
  use(source: Source): void;
  /** The value of this key is inconsistent with the rest of memory: both are read anew before the answer is made. */
  markInconsistent(kind: KindName, key: string): void;
  /** The answer no longer holds from this moment on, unix milliseconds, even if nothing changes. */
  expireAt(moment: number): void;
}

export type RankedOrders = Pick<Ranked, 'page' | 'size' | 'quotes' | 'until'>;

/** The kinds that have one row or none for a key. */
export type RowKind = { [Kind in KindName]: undefined extends ValueOf<Kind> ? Kind : never }[KindName];

/** Values that were loaded for one reader alone: used where memory does not hold them, or no longer does. */
export type Overlay = Map<KindName, Map<string, Cell>>;

export interface Reading {
  view: View;
  lacks: Keys;
  /** Whether the orders of the policies are lacking. */
  lacksRanked(): boolean;
  /** Whether memory has to be brought up first, because something is inconsistent with it. */
  foundInconsistent(): boolean;
  /** Whether parts are left to be made after other requests have run. */
  isUnfinished(): boolean;
  toMemo<T>(value: T): Memo<T>;
}

export function openView(
  memory: {
    itself: Source;
    cells: Cells;
    parts: AnswerParts;
    rowParts: RowParts;
    state: StateCells;
    ranked: Ranked;
    clock: number;
  },
  now: number,
  overlay: Overlay,
  slices: TimeSlices,
): Reading {
  const lacks: Keys = new Map();
  const cells: Source[] = [memory.itself];
  const stamps: number[] = [memory.itself.stamp];
  let lacksRanked = false;
  let inconsistent = false;
  let isUnfinished = false;
  /** How often something was not loaded. */
  let lacking = 0;
  /** How often something was used that was loaded for this reader alone. */
  let own = 0;
  let until = Number.POSITIVE_INFINITY;
  const isTold = (cell: Cell | undefined): cell is Cell => cell !== undefined && cell.until > now;
  // Where memory has a value by now, whatever was made of this reader's own no longer holds.
  for (const [kind, loaded] of overlay)
    for (const [key, cell] of loaded) if (isTold(memory.cells.peek(kind, key))) cell.stamp += 1;
  const use = (cell: Source) => {
    cell.usedAt = memory.clock;
    cells.push(cell);
    stamps.push(cell.stamp);
    if (cell.until < until) until = cell.until;
  };
  const get = <Kind extends KindName>(kind: Kind, key: string): ValueOf<Kind> => {
    memory.cells.markInUse(kind, memory.clock);
    const cell = memory.cells.get(kind, key);
    if (isTold(cell)) {
      use(cell);
      return cell.value as ValueOf<Kind>;
    }
    const loaded = overlay.get(kind)?.get(key);
    if (loaded !== undefined) {
      use(loaded);
      own += 1;
      return loaded.value as ValueOf<Kind>;
    }
    addKey(lacks, kind, key);
    lacking += 1;
    return KINDS[kind].none as ValueOf<Kind>;
  };
  /** Null where it no longer holds. */
  const holding = <Made extends Memo<unknown>>(known: Made | undefined): Made | null =>
    known !== undefined && holds(known, now, memory.clock) ? known : null;
  const knownPart = <T>(name: string): Memo<T> | null => {
    const piece = holding(slices.get(name));
    const known = piece ?? holding(memory.parts.get(name));
    if (known === null) return null;
    for (const cell of known.cells) cells.push(cell);
    for (const stamp of known.stamps) stamps.push(stamp);
    if (known.until < until) until = known.until;
    if (piece?.isOwn) own += 1;
    return known as Memo<T>;
  };
  const part = <T>(name: string, make: () => T, isLong = false): T => {
    const known = knownPart<T>(name);
    if (known !== null) return known.value;
    const [from, lackingBefore, ownBefore, untilBefore] = [cells.length, lacking, own, until];
    until = Number.POSITIVE_INFINITY;
    const value = make();
    const isOwn = own > ownBefore;
    const made = { value, cells: cells.slice(from), stamps: stamps.slice(from), madeAt: now, until };
    if (lacking === lackingBefore && until > now) {
      if (!isOwn) memory.parts.set(name, made);
      if (isOwn || isLong) slices.keep(name, { ...made, isOwn });
    }
    until = Math.min(until, untilBefore);
    return value;
  };
  const longPart = <T>(name: string, none: T, make: () => T): T => {
    isUnfinished ||= slices.isOver();
    // No piece is made while the answer lacks something: one without all of its inputs would be rebuilt on every round.
    if (lacking === 0 && !isUnfinished) return part(name, make, true);
    const known = isUnfinished ? null : knownPart<T>(name);
    if (known !== null) return known.value;
    lacking += 1;
    return none;
  };
  const rowPart = <T extends SizedText>(row: RowWithPart, around: object, make: () => T): T => {
    use(row);
    const known = memory.rowParts.get(row);
    if (known !== null && known.stamp === row.stamp && known.around === around && row.until > now) {
      const { more } = known;
      if (more === null) return known.value as T;
      if (holds(more, now, memory.clock)) {
        for (const cell of more.cells) use(cell);
        if (more.until < until) until = more.until;
        return known.value as T;
      }
    }
    const [from, lackingBefore, ownBefore, untilBefore] = [cells.length, lacking, own, until];
    until = Number.POSITIVE_INFINITY;
    const value = make();
    const isAlone = cells.length === from && until === Number.POSITIVE_INFINITY;
    const more = isAlone
      ? null
      : { value: null, cells: cells.slice(from), stamps: stamps.slice(from), madeAt: now, until };
    if (lacking === lackingBefore && own === ownBefore && until > now)
      memory.rowParts.set(row, { value, around, stamp: row.stamp, more });
    until = Math.min(until, untilBefore);
    return value;
  };
  return {
    lacks,
    lacksRanked: () => lacksRanked,
    foundInconsistent: () => inconsistent,
    isUnfinished: () => isUnfinished,
    view: {
      now,
      get,
      single: (kind) => get(kind, ''),
      rows: (kind, keys) => {
        const rows = new Map<string, NonNullable<ValueOf<typeof kind>>>();
        for (const key of keys) {
          const row = get(kind, key);
          if (row !== undefined) rows.set(key, row as NonNullable<ValueOf<typeof kind>>);
        }
        return rows;
      },
      state: () => tracked(memory.state, use),
      part: (name, make) => part(name, make),
      longPart,
      rowPart,
      use,
      ranked: (need) => {
        const { ranked, state } = memory;
        ranked.markInUse(memory.clock);
        const found = ranked.look(need, now);
        if (found === 'lacking') lacking += 1;
        lacksRanked ||= found === 'lacking';
        if (found !== 'ready') return found === 'engine' ? found : null;
        use(state.ranked);
        return ranked;
      },
      markInconsistent: (kind, key) => {
        // An answer that lacks something cannot tell what is inconsistent.
        if (lacking > 0) return;
        memory.cells.drop(kind, key);
        addKey(lacks, kind, key);
        lacking += 1;
        inconsistent = true;
      },
      expireAt: (moment) => {
        if (moment < until) until = moment;
      },
    },
    // What was made of values loaded for this reader alone is not shared: it holds no longer than now.
    toMemo: (value) => ({ value, cells, stamps, madeAt: now, until: own > 0 ? now : until }),
  };
}
