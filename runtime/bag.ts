/** What is there for a short time, in no order. */
export interface Bag<T> {
  size(): number;
  /** @returns takes it out again */
  add(one: T): () => void;
  /** Those that are there now. */
  all(): T[];
}

/**
 * Not a Set: of one that others come to and leave all the time V8 leaves behind table after table, each naming the next,
 * and once one of them is old whatever was in those behind it counts as used, until all of the heap is looked through.
 */
export function createBag<T>(): Bag<T> {
  const places: { one: T; at: number }[] = [];

  return {
    size: () => places.length,
    add: (one) => {
      const place = { one, at: places.length };
      places.push(place);
      return () => {
        if (places[place.at] !== place) return;
        const last = places.pop() as typeof place;
        if (last === place) return;
        last.at = place.at;
        places[place.at] = last;
      };
    },
    all: () => places.map(({ one }) => one),
  };
}
