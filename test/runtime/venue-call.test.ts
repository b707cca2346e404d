import { afterEach, expect, test } from 'vitest';
import { RetryableError } from '../../runtime/errors.ts';
import { askOptionsVenue, retryAfter } from '../../runtime/outside/venue-call.ts';
import { MalformedError } from '../../schemas/malformed.ts';
import { VenueRefusal } from '../../schemas/venues/options.ts';
import { type Answer, type AnsweringServer, serveAnswers } from '../support/answering.ts';

let server: AnsweringServer | null = null;
afterEach(() => server?.close());

async function ask(answer: Answer | null, limits = {}) {
  server = await serveAnswers(() => answer);
  return askOptionsVenue(server.url, 'get_ticker', { instrument_name: 'X' }, limits);
}

test('a method is called by POST with the bare parameters, and its result is returned', async () => {
  expect(await ask({ body: { id: 1, result: { t: 5 } } })).toEqual({ t: 5 });
  expect(server?.asked).toMatchObject([
    { method: 'POST', path: '/public/get_ticker', body: { instrument_name: 'X' } },
  ]);
});

test.each([200, 400, 404, 500])('an error in the body is a VenueRefusal (HTTP %i)', async (status) => {
  const asking = ask({ status, body: { id: 1, error: { code: '12001', message: 'Instrument not found' } } });
  await expect(asking).rejects.toThrow(VenueRefusal);
  await expect(asking).rejects.toMatchObject({ code: 12001 });
});

test.each<[string, Answer]>([
  ['busy text', { status: 503, body: 'busy' }],
  ['a refusal in JSON that is no reply', { status: 429, body: { detail: 'slow down' } }],
  ['a redirect', { status: 302, headers: { location: '/x' } }],
])('%s fails with a RetryableError', async (_, answer) => {
  await expect(ask(answer)).rejects.toThrow(RetryableError);
});

test.each<[string, unknown]>([
  ['bytes', new Uint8Array([0xff, 0, 0x7b])],
  ['a list', '[]'],
  ['neither result nor error', { id: 1 }],
  ['an error without a code', { error: { message: 'x' } }],
])('%s in place of a reply fails with a MalformedError', async (_, body) => {
  await expect(ask({ body })).rejects.toThrow(MalformedError);
});

test('a request to a venue that hangs fails as timed out, with a RetryableError', async () => {
  const asking = ask(null, { timeoutMs: 50 });
  await expect(asking).rejects.toThrow(RetryableError);
  await expect(asking).rejects.toThrow(/^timed out$/);
});

test('Retry-After is read in seconds and as a date, and never binds for longer than ten minutes', () => {
  const now = Date.parse('2026-11-01T00:00:00Z');
  expect(retryAfter('3', now)).toBe(3_000);
  expect(retryAfter('Sun, 01 Nov 2026 00:00:09 GMT', now)).toBe(9_000);
  expect(retryAfter('999999', now)).toBe(600_000);
  for (const none of [null, '0', '-5', 'soon', 'Sun, 01 Nov 2020 00:00:09 GMT', '1e99'])
    expect(retryAfter(none, now)).toBeNull();
});
