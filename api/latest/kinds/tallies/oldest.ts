/** The oldest of times in unix seconds; null where one is not known, or there is none. */
export function oldestOf(times: readonly (string | null)[]): string | null {
  let found: bigint | null = null;
  for (const text of times) {
    if (text === null) return null;
    const time = BigInt(text);
    if (found === null || time < found) found = time;
  }
  return found === null ? null : found.toString();
}
