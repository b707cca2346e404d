/** A collection of what stays for a short time, in no order. */
export interface Bag<T> {
  size(): number;
  /** @returns a function that takes it out again */
  add(one: T): () => void;
  /** What is in it now. */
  all(): T[];
}

/**
 * Not a Set: where members come and go all the time, V8 leaves behind one hash table after another, each pointing to
 * the next. Once one is in the old generation, whatever the later ones held counts as used until a full collection.
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
