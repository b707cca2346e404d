/** How many of the rows are of hours before an end. @param rows oldest hour first */
export function countBefore(rows: readonly { hour: number }[], end: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle] as { hour: number }).hour < end) low = middle + 1;
    else high = middle;
  }
  return low;
}
