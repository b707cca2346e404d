/** From the longest idle time on to the shortest. */
const LINGERS = [
  { idleMs: 60_000, lingerMs: 2_000 },
  { idleMs: 10_000, lingerMs: 800 },
];

/**
 * For how many milliseconds records are gathered to be written together when no request has come for `idleMs`: writing
 * a few rows of two slots costs as much as writing those of one. A request ends the wait.
 */
export const lingerAfter = (idleMs: number): number =>
  LINGERS.find((one) => idleMs >= one.idleMs)?.lingerMs ?? 0;
