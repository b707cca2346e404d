/** Pages of a list that grows at its head are put together by what they share, never by how many rows came meanwhile. */

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Whether `part`, from `at` in `whole` on, is the same as far as both go. */
function agrees(whole: readonly unknown[], at: number, part: readonly unknown[]): boolean {
  const length = Math.min(whole.length - at, part.length);
  for (let row = 0; row < length; row += 1) if (!same(whole[at + row], part[row])) return false;
  return length > 0;
}

/** The list with its newest page put on: what is known stays below it where they meet, else the page is all there is. */
export function withHead<T>(known: readonly T[], first: readonly T[]): T[] {
  for (let fresh = 0; fresh < first.length; fresh += 1) {
    if (agrees(first, fresh, known)) return [...first.slice(0, fresh), ...known];
  }
  return [...first];
}

/** The list with an older page that overlaps its end; null where they do not meet. */
export function withTail<T>(known: readonly T[], page: readonly T[]): T[] | null {
  for (let at = Math.max(0, known.length - page.length); at < known.length; at += 1) {
    if (agrees(known, at, page)) return [...known.slice(0, at), ...page];
  }
  return null;
}
