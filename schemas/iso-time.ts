const ISO_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(?:(Z)|([+-]\d\d):?(\d\d)?)?$/i;

/**
 * Unix milliseconds of an ISO 8601 text, NaN where it is none. A text without a zone counts as UTC: the zone of this
 * machine is not the source's.
 */
export function unixMillisOf(text: string): number {
  const [, day = '', time, , hours, minutes = '00'] = ISO_TIME.exec(text) ?? [];
  if (!isDay(day)) return Number.NaN;
  return Date.parse(`${day}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`);
}

/** Whether a text like 2026-02-28 is a day. The engine takes the 30th of February for a day of March. */
export function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
