const HOUR_MS = 3_600_000;
const FIRST_HOUR = /is not known before the hour that ends at (\d{4}-\d\d-\d\dT[\d:.]+Z)/g;

/** The API's reason with its hour named by its beginning, as the end of an hour that is not over lies ahead. */
export const inWords = (reason: string): string =>
  reason.replace(FIRST_HOUR, (_, end: string) => {
    const begin = new Date(Date.parse(end) - HOUR_MS).toISOString();
    return `was first seen in the hour that began at ${begin}`;
  });
