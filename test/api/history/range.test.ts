import { expect, test } from 'vitest';
import { readRange } from '../../../api/history/range.ts';

const NOW = Date.UTC(2026, 10, 22, 10, 20, 30);
const read = (query: string) => readRange(new URLSearchParams(query), NOW);
const seconds = (text: string) => Date.parse(text) / 1000;

test('without parameters the range is the hours of the last seven days, up to the unfinished one', () => {
  const range = read('');
  expect(range).toMatchObject({
    step: 'hour',
    from: seconds('2026-11-15T10:00:00Z'),
    to: NOW / 1000,
    unfinished: true,
  });
  if ('error' in range) throw new Error(range.error);
  expect(range.ends).toHaveLength(7 * 24);
  expect(range.ends[0]).toBe(seconds('2026-11-15T11:00:00Z'));
  expect(range.ends.at(-1)).toBe(seconds('2026-11-22T10:00:00Z'));
});

test.each([
  ['from=2026-11-08T10:20:30Z', 'hour'],
  ['from=2026-11-08T10:20:29Z', 'hour'],
  ['from=2026-11-08T10:00:00Z', 'hour'],
  ['from=2026-11-08T09:59:59Z', 'day'],
  ['from=2026-11-08T09:59:59Z&step=hour', 'hour'],
  ['from=2026-11-06T10:20:30Z&to=2026-11-20T10:20:30Z', 'hour'],
  ['from=2026-11-06T10:20:29Z&to=2026-11-20T10:20:30Z', 'day'],
  ['from=2026-11-21&step=day', 'day'],
])('the step of %s is the %s', (query, step) => {
  expect(read(query)).toMatchObject({ step });
});

test('times are ISO 8601, UTC if they have no zone, or unix seconds, and are rounded down to whole steps', () => {
  const whole = {
    step: 'hour',
    from: seconds('2026-11-20T10:00:00Z'),
    to: seconds('2026-11-20T13:00:00Z'),
    ends: ['11', '12', '13'].map((hour) => seconds(`2026-11-20T${hour}:00:00Z`)),
    unfinished: false,
    isOfNow: false,
  };
  expect(read('from=2026-11-20T10:20:00Z&to=2026-11-20T13:59:59.999Z')).toEqual(whole);
  expect(read('from=2026-11-20T11:20%2B01:00&to=2026-11-20T13:30')).toEqual(whole);
  expect(read(`from=${seconds('2026-11-20T10:59:59Z')}&to=${seconds('2026-11-20T13:00:00Z')}&step=`)).toEqual(
    whole,
  );
});

test.each([
  '2026-11-20T12:20:00+02:00',
  '2026-11-20T12:20+02:00',
  '2026-11-20T12:20:00.5+0200',
  '2026-11-20T12:20%2B0200',
  '2026-11-20T12:20%2B02',
  '2026-11-20T08:20:00-0200',
  '2026-11-20T08:20-02',
  '2026-11-20t10:20:00z',
])('%s is read as in the hour of 10:00 UTC, even if its plus arrives as a space', (text) => {
  expect(read(`from=${text}&to=2026-11-20T13:00:00Z`)).toMatchObject({
    from: seconds('2026-11-20T10:00:00Z'),
    to: seconds('2026-11-20T13:00:00Z'),
  });
});

test.each([
  '2026-11-20T10:20:00 Z',
  '2026-11-20 10:20',
  '2026-11-20+02:00',
  '2026-11-20T10:20++02:00',
  '2026-11-20T10:20 - 02:00',
  '2026-11-20T10:20+25:00',
])('%s is refused as a time', (text) => {
  expect(read(`from=${text}&to=2026-11-20T13:00:00Z`)).toMatchObject({
    error: expect.stringContaining('Valid: an ISO 8601 time or unix seconds'),
  });
});

test.each(['0', '3600', '604799'])(
  'with to=%s, less than seven days after the epoch, the range begins at the epoch',
  (to) => {
    expect(read(`to=${to}`)).toMatchObject({ from: 0, to: Math.floor(Number(to) / 3600) * 3600 });
  },
);

test('a range ends at now at the latest, and a step that ends exactly then is listed once', () => {
  expect(read('to=2030-01-01')).toMatchObject({ to: NOW / 1000, unfinished: true });
  const at = readRange(new URLSearchParams('from=2026-11-22'), Date.UTC(2026, 10, 22, 2));
  expect(at).toMatchObject({ unfinished: false });
  expect('error' in at ? at : at.ends).toHaveLength(2);
  const none = read('from=2026-11-20T10:20:00Z&to=2026-11-20T10:40:00Z');
  expect(none).toMatchObject({ ends: [], unfinished: false });
});

test.each([
  ['', true],
  ['from=2026-11-20', true],
  ['to=2026-11-22T10:20:30Z', true],
  ['to=2030-01-01', true],
  ['from=2026-11-22T10:20:31Z', true],
  ['from=2026-11-22T10:20:31Z&to=2026-11-21', true],
  ['from=2000-01-01&step=hour', true],
  ['from=2026-11-20&to=2026-11-22T10:20:29Z', false],
  ['from=2026-11-20&to=2026-11-19', false],
])('%j depends on the current second: %s', (query, isOfNow) => {
  expect(read(query)).toMatchObject({ isOfNow });
});

test('a range of 1000 items is accepted, one of 1001 is refused', () => {
  const at = (items: number) => read(`from=${NOW / 1000 - 1230 - (items - 1) * 3600}&step=hour`);
  const most = at(1000);
  expect('error' in most ? most : most.ends).toHaveLength(999);
  expect(at(1001)).toEqual({ error: expect.stringContaining('at most 1000'), isOfNow: true });
});

test.each([
  ['step=week', 'unknown step "week". Valid: hour, day'],
  ['from=yesterday', 'unknown from "yesterday". Valid: an ISO 8601 time or unix seconds'],
  ['to=2026-13-40', 'unknown to "2026-13-40". Valid: an ISO 8601 time or unix seconds'],
  ['to=-5', 'unknown to "-5". Valid: an ISO 8601 time or unix seconds'],
  ['from=2026-11-20&to=2026-11-19', 'from is later than to. Valid: from up to 2026-11-19T00:00:00.000Z'],
  [
    `from=2030-01-01&to=2031-01-01`,
    `from is in the future. Valid: from up to ${new Date(NOW).toISOString()}`,
  ],
])('%s is refused with an error that says what is valid', (query, error) => {
  expect(read(query)).toMatchObject({ error });
});

test.each(['2026-02-30', '2026-04-31T10:00', '2026-02-29T00:00:00Z', '2026-13-01', '2026-11-21T24:30'])(
  '%s does not exist as a date or time and is refused instead of rolled over',
  (text) => {
    expect(read(`from=${text}`)).toMatchObject({
      error: `unknown from "${text}". Valid: an ISO 8601 time or unix seconds`,
    });
  },
);

test('29 February of a leap year is accepted, also in another zone than UTC', () => {
  expect(read('from=2024-02-29&to=2024-03-01')).toMatchObject({ from: seconds('2024-02-29T00:00:00Z') });
  expect(read('from=2024-02-29T23:30-02:00&to=2024-03-03')).toMatchObject({
    from: seconds('2024-03-01T01:00:00Z'),
  });
});
