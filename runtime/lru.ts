import { LRUCache } from 'lru-cache';

/**
 * A cache of the `most` entries that were used last. Bounded by `maxSize`, it takes memory as it fills: with `max` it
 * would allocate all of it when it is made, 13 ms for 200,000.
 */
export const createLru = <V extends object | string | true>(most: number): LRUCache<string, V> =>
  new LRUCache<string, V>({ maxSize: most, sizeCalculation: () => 1 });
