/** Gone through once for each list, however many figures ask. */
const known = new WeakMap<readonly (readonly [string, ...unknown[]])[], ReadonlyMap<string, unknown>>();

/** Those entries of a list that begin with this text. */
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
