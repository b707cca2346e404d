import {
  type AscendingPlaces,
  ascendingPlaces,
  type OrderPlace,
  partitionPoint,
  placesOf,
} from './direction.ts';
import type { RankedRow } from './row.ts';

/** A key to rank by; null is absent and comes last in both directions. */
export type KeyOf = (row: RankedRow) => bigint | null;

/** All rows in ascending order, equal keys by mint; they can be read in both directions. */
export interface Order {
  /**
   * Notes rows that may have another key, are new or are gone; they take their place when the order is next asked for.
   */
  touch(rows: Iterable<RankedRow>): void;
  size(): number;
  /** How often rows took or left places. */
  moves(): number;
  slice(from: number, to: number, descending: boolean): OrderPlace[];
  /** The places of rows that pass. @param before an earlier result of the same filter, which is updated in place */
  filter(passes: (row: RankedRow) => boolean, before?: Filtered): Filtered;
}

/** The places of an order that pass a filter, as they stood at a version of the order. */
export interface Filtered {
  version: number;
  places: OrderPlace[];
}

/** What changed from one version to the next. */
interface Step {
  left: readonly OrderPlace[];
  /** Places that are where they were, though other things of their rows may have changed. */
  stayed: readonly OrderPlace[];
  moved: readonly OrderPlace[];
}

/** Places per chunk: a row that moves shifts no more than these. */
const CHUNK = 512;
/** Where more than one row in this many has moved, all are sorted again: what is nearly sorted costs little. */
const MANY = 8;
/** Places in the steps that are remembered: following so many costs less than looking through all rows. */
const MOST_STEPPED = 1_000;

export function createOrder(all: Iterable<RankedRow>, keyOf: KeyOf): Order {
  /** Indexed by the number of the row: a map of all rows would be larger than everything else in an order. */
  const places: (OrderPlace | undefined)[] = [];
  let size = 0;
  /** In order, none of them empty. */
  let chunks: OrderPlace[][] = [];
  let touched = new Set<RankedRow>(all);
  let version = 0;
  let moves = 0;
  /** The steps that are remembered; the last of them led to this version. */
  let steps: Step[] = [];
  /** The chunks as one sequence, at this version; null until it is asked for. */
  let ascending: AscendingPlaces | null = null;

  const compare = (one: OrderPlace, other: OrderPlace): number => {
    const a = one.key;
    const b = other.key;
    if (a !== b) {
      if (a === null) return 1;
      if (b === null) return -1;
      return a < b ? -1 : 1;
    }
    return one.row.mint < other.row.mint ? -1 : one.row.mint > other.row.mint ? 1 : 0;
  };
  const atOf = (list: readonly OrderPlace[], place: OrderPlace): number =>
    partitionPoint(0, list.length, (at) => compare(list[at] as OrderPlace, place) < 0);
  /** The chunk that holds the first place not before this one; the last where there is none. */
  const chunkOf = (place: OrderPlace): number => {
    const isBefore = (chunk: OrderPlace[] | undefined) => compare(chunk?.at(-1) as OrderPlace, place) < 0;
    const at = partitionPoint(0, chunks.length, (index) => isBefore(chunks[index]));
    return Math.min(at, chunks.length - 1);
  };
  const remove = (place: OrderPlace) => {
    const at = chunkOf(place);
    const chunk = chunks[at] as OrderPlace[];
    chunk.splice(atOf(chunk, place), 1);
    if (chunk.length === 0) chunks.splice(at, 1);
  };
  const add = (place: OrderPlace) => {
    if (chunks.length === 0) chunks.push([]);
    const at = chunkOf(place);
    const chunk = chunks[at] as OrderPlace[];
    chunk.splice(atOf(chunk, place), 0, place);
    if (chunk.length > 2 * CHUNK) chunks.splice(at, 1, chunk.slice(0, CHUNK), chunk.slice(CHUNK));
  };
  const sortAnew = (moved: readonly OrderPlace[], left: ReadonlySet<OrderPlace>) => {
    const stay = chunks.flat().filter((place) => !left.has(place));
    const sorted = [...stay, ...moved].sort(compare);
    chunks = Array.from({ length: Math.ceil(sorted.length / CHUNK) }, (_, at) =>
      sorted.slice(at * CHUNK, (at + 1) * CHUNK),
    );
  };
  const settle = () => {
    if (touched.size === 0) return;
    const moved: OrderPlace[] = [];
    const stayed: OrderPlace[] = [];
    const left = new Set<OrderPlace>();
    for (const row of touched) {
      const known = places[row.number];
      const key = row.gone ? null : keyOf(row);
      // One whose key is the same stays where it is.
      if (known !== undefined && !row.gone && known.key === key) {
        stayed.push(known);
        continue;
      }
      if (known !== undefined) left.add(known);
      places[row.number] = undefined;
      if (row.gone) continue;
      const place = { row, key };
      places[row.number] = place;
      moved.push(place);
    }
    touched = new Set();
    size += moved.length - left.size;
    version += 1;
    ascending = null;
    if (moved.length + left.size > 0) moves += 1;
    remember({ left: [...left], stayed, moved });
    if (moved.length * MANY > size) return sortAnew(moved, left);
    for (const place of left) remove(place);
    for (const place of moved) add(place);
  };
  const remember = (step: Step) => {
    steps.push(step);
    let stepped = 0;
    const from = steps.findLastIndex(({ left, stayed, moved }) => {
      stepped += left.length + stayed.length + moved.length;
      return stepped > MOST_STEPPED;
    });
    if (from >= 0) steps = steps.slice(from + 1);
  };
  /** Brings a filtered list up to date by one step. */
  const follow = (list: OrderPlace[], { left, stayed, moved }: Step, passes: (row: RankedRow) => boolean) => {
    const put = (place: OrderPlace, is: boolean) => {
      const at = atOf(list, place);
      const was = list[at] === place;
      if (was && !is) list.splice(at, 1);
      if (!was && is) list.splice(at, 0, place);
    };
    for (const place of left) put(place, false);
    // A place that a later step moved is put in by that step.
    for (const place of [...stayed, ...moved])
      put(place, places[place.row.number] === place && passes(place.row));
  };

  return {
    touch: (changed) => {
      for (const row of changed) touched.add(row);
    },
    size: () => {
      settle();
      return size;
    },
    moves: () => {
      settle();
      return moves;
    },
    slice: (from, to, descending) => {
      settle();
      ascending ??= ascendingPlaces(chunks);
      return placesOf(ascending, from, to, descending);
    },
    filter: (passes, before) => {
      settle();
      if (before?.version === version) return before;
      const behind = before === undefined ? Number.POSITIVE_INFINITY : version - before.version;
      if (before !== undefined && behind <= steps.length) {
        for (const step of steps.slice(-behind)) follow(before.places, step, passes);
        before.version = version;
        return before;
      }
      const through: OrderPlace[] = [];
      for (const chunk of chunks) for (const place of chunk) if (passes(place.row)) through.push(place);
      return { version, places: through };
    },
  };
}
