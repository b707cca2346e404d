import { optionsResult } from '../../../runtime/outside/venue-call.ts';
import { type LogRecord, NO_ADDRESS } from '../../../schemas/records.ts';
import { readCurrencies } from '../../../schemas/venues/options.ts';
import { letterOfRows, pollReply } from './call.ts';

/** What was read of a venue as a whole, and how long it wants to be left alone; null where it did not say. */
export interface VenueReading {
  records: LogRecord[];
  retryAfterMs: number | null;
}

/** The options venue's currencies, and with them whether it answers. */
export async function readOptionsVenue(base: string, signal: AbortSignal): Promise<VenueReading> {
  const call = {
    url: `${base}/public/get_all_currencies`,
    body: {},
    what: 'reading:currencies',
    where: NO_ADDRESS,
    signal,
  };
  const polled = await pollReply(call, (reply) => readCurrencies(optionsResult(reply)));
  const readAt = Date.now();
  const error = 'error' in polled ? polled.error : null;
  const records: LogRecord[] = [
    {
      kind: 'reading',
      readAt,
      reading: { type: 'venue_status', venue: 'options', ok: error === null, error },
    },
  ];
  if ('error' in polled) {
    const { letter, retryAfterMs } = polled;
    return { records: letter === null ? records : [...records, letter], retryAfterMs };
  }
  const { rows, bad } = polled.value;
  records.push({ kind: 'reading', readAt, reading: { type: 'currencies', items: rows } });
  const [first] = bad;
  if (first !== undefined)
    records.push(
      letterOfRows(call, bad, `${bad.length} rows cannot be read whole, the first for: ${first.reason}`),
    );
  return { records, retryAfterMs: null };
}
