/** Each list grouped by the first element of its entries, once, however many figures ask. */
const known = new WeakMap<readonly (readonly [string, ...unknown[]])[], ReadonlyMap<string, unknown>>();

/** The entries of a list whose first element is `first`. */
export function entriesOf<Entry extends readonly [string, ...unknown[]]>(
  list: readonly Entry[],
  first: string,
): readonly Entry[] {
  let groups = known.get(list) as ReadonlyMap<string, readonly Entry[]> | undefined;
  if (groups === undefined) {
    groups = Map.groupBy(list, ([of]) => of);
    known.set(list, groups);
  }
  return groups.get(first) ?? [];
}
