/** A cache of the `most` values that were asked for last; one that it lacks is made. */
export function keepSome<T>(most: number): (key: number, make: () => T) => T {
  const kept = new Map<number, T>();
  return (key, make) => {
    const value = kept.get(key) ?? make();
    kept.delete(key);
    kept.set(key, value);
    if (kept.size > most) kept.delete(kept.keys().next().value as number);
    return value;
  };
}
