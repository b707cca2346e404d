/** Pages of a list that grows at its head are joined by the rows that they share, never by counting new rows. */

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Whether `part` and `whole` from `at` on hold the same rows, as far as both go. */
function agrees(whole: readonly unknown[], at: number, part: readonly unknown[]): boolean {
  const length = Math.min(whole.length - at, part.length);
  for (let row = 0; row < length; row += 1) if (!same(whole[at + row], part[row])) return false;
  return length > 0;
}

/** The list with its newest page on top: known rows stay below it where the two overlap, else only the page is kept. */
export function withHead<T>(known: readonly T[], first: readonly T[]): T[] {
  for (let fresh = 0; fresh < first.length; fresh += 1) {
    if (agrees(first, fresh, known)) return [...first.slice(0, fresh), ...known];
  }
  return [...first];
}

/** The list with an older page that overlaps its end; null where the two do not overlap. */
export function withTail<T>(known: readonly T[], page: readonly T[]): T[] | null {
  for (let at = Math.max(0, known.length - page.length); at < known.length; at += 1) {
    if (agrees(known, at, page)) return [...known.slice(0, at), ...page];
  }
  return null;
}
