import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFollowedRequests } from '../../../ingest/stream/followed-stream/requests.ts';
import { StreamEndedError } from '../../../ingest/stream/geyser/ended.ts';

const OK = 0;
const INVALID_ARGUMENT = 3;
const INTERNAL = 13;
const UNAVAILABLE = 14;
const TEN_MINUTES = 600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A provider that takes so many addresses, and ends a stream that asks for more in that way. */
function stage() {
  const all = Array.from({ length: 60_000 }, (_, at) => `${at}`);
  const requests = createFollowedRequests({
    ...{ commitment: 'confirmed', addresses: () => all, onRequest: () => {} },
  });
  const asked: string[] = [];
  /** One stream: what it asks for is told; where it works it ends, for a reason of its own, that much later. */
  const stream = (takes: number, ended: StreamEndedError, afterMs = 0): number => {
    const { replay } = requests.begin();
    const { addresses, name } = requests.request(replay ? 7n : null);
    asked.push(`${addresses.length}${replay ? '' : ' anew'}`);
    if (addresses.length <= takes) requests.atWork(name);
    vi.advanceTimersByTime(afterMs);
    requests.ended(ended);
    return addresses.length;
  };
  /** Streams until one works. */
  const untilWorks = (takes: number, ended: StreamEndedError) => {
    while (stream(takes, ended) > takes);
  };
  return { requests, asked, stream, untilWorks };
}
const ended = (code: number, words = '') => new StreamEndedError(code, words);

test.each([INTERNAL, OK])('a cap that no refusal gave (%i) ends with a later stream that worked', (code) => {
  const { asked, stream, untilWorks } = stage();
  untilWorks(1_000, ended(code));
  expect(asked.at(-1)).toBe('937 anew');
  stream(60_000, ended(INTERNAL), TEN_MINUTES - 1);
  expect(stream(60_000, ended(INTERNAL), 1)).toBe(937);
  for (let streams = 0; streams < 3; streams += 1) stream(60_000, ended(UNAVAILABLE), TEN_MINUTES);
  expect(asked.slice(-3)).toEqual(['60000', '60000', '60000']);
});

test.each([INTERNAL, OK, UNAVAILABLE])(
  'where more does not work by then either (%i), what did is asked for at once, with its replay, and more ten minutes later',
  (code) => {
    const { asked, stream, untilWorks } = stage();
    untilWorks(1_000, ended(INTERNAL));
    for (let streams = 0; streams < 6; streams += 1) stream(1_000, ended(code), TEN_MINUTES / 2);
    expect(asked.slice(-6)).toEqual(['937', '937', '60000', '937', '60000', '937']);
  },
);

test('a cap that the provider gave, or came to by refusing, is asked for until the next start', () => {
  for (const words of ['only 10 allowed', 'too many']) {
    const { asked, stream, untilWorks } = stage();
    untilWorks(1_000, ended(INVALID_ARGUMENT, words));
    const [taken] = asked.slice(-1);
    for (let streams = 0; streams < 3; streams += 1) stream(60_000, ended(INTERNAL), TEN_MINUTES);
    expect(new Set(asked.slice(-3))).toEqual(new Set([taken?.replace(' anew', '')]));
  }
});

test('one that it gives where all are asked for again holds', () => {
  const { asked, stream, untilWorks } = stage();
  untilWorks(1_000, ended(INTERNAL));
  stream(60_000, ended(INTERNAL), TEN_MINUTES);
  stream(500, ended(INVALID_ARGUMENT, 'only 500 allowed'));
  for (let streams = 0; streams < 3; streams += 1) stream(500, ended(INTERNAL), TEN_MINUTES);
  expect(asked.slice(-4)).toEqual(['60000', '500', '500', '500']);
});
