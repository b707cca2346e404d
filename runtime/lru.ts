import { LRUCache } from 'lru-cache';

/**
 * What was used last, so many at most. It takes room as it fills: under a bound by number the cache takes all of it when
 * it is made, 13 ms for 200,000.
 */
export const createLru = <V extends object | string | true>(most: number): LRUCache<string, V> =>
  new LRUCache<string, V>({ maxSize: most, sizeCalculation: () => 1 });
