const HOUR_MS = 3_600_000;
const FIRST_HOUR = /is not known before the hour that ends at (\d{4}-\d\d-\d\dT[\d:.]+Z)/g;

/** A reason of the past as the API gives it: an hour that is not over is named by its beginning, its end lies ahead. */
export const inWords = (reason: string): string =>
  reason.replace(FIRST_HOUR, (_, end: string) => {
    const begin = new Date(Date.parse(end) - HOUR_MS).toISOString();
    return `was first seen in the hour that began at ${begin}`;
  });
