const STEPS: readonly [seconds: number, name: string][] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** How long ago, in one or two units; a time ahead of the clock is named as such. */
export function ago(iso: string, now: number): string {
  const seconds = Math.round((now - Date.parse(iso)) / 1000);
  if (Number.isNaN(seconds)) return 'at an unreadable time';
  if (seconds < -5) return `${span(-seconds)} ahead of this clock`;
  return seconds < 2 ? 'just now' : `${span(seconds)} ago`;
}

/** How long something has lasted since a time; null where that is ahead of the clock, or unreadable. */
export function lasting(iso: string, now: number): string | null {
  const seconds = Math.round((now - Date.parse(iso)) / 1000);
  return seconds >= 0 ? `for ${span(seconds)}` : null;
}

/** How long ago, in one unit, for places with little room. */
export function shortAgo(iso: string, now: number): string {
  const seconds = Math.round((now - Date.parse(iso)) / 1000);
  const [length, name] = STEPS.find(([step]) => seconds >= step) ?? [1, 's'];
  return Number.isNaN(seconds) ? ago(iso, now) : `${Math.max(0, Math.floor(seconds / length))} ${name} ago`;
}

export function span(seconds: number): string {
  const at = STEPS.findIndex(([length]) => seconds >= length);
  if (at === -1) return '0 s';
  const [length, name] = STEPS[at] as [number, string];
  const whole = Math.floor(seconds / length);
  const next = STEPS[at + 1];
  const rest = next === undefined ? 0 : Math.floor((seconds % length) / next[0]);
  return rest > 0 && whole < 10 ? `${whole} ${name} ${rest} ${next?.[1]}` : `${whole} ${name}`;
}

/** `2026-11-21 03:48:09` of `2026-11-21T03:48:09.000Z`; always UTC, as served. */
export function stamp(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}
