import { expect, test } from 'vitest';
import { withBoundedLetters } from '../../../ingest/poll/bounded-letters.ts';
import { runPollers } from '../../../ingest/poll/pollers.ts';
import { deadLetterOf } from '../../../ingest/poll/venues/call.ts';
import { NO_ADDRESS } from '../../../schemas/records.ts';
import { serveAnswers } from '../../support/answering.ts';
import { captureLog, pollOptions } from './support/capture.ts';

const MEGABYTE = 1_000_000;
const letter = (megabytes: number) =>
  deadLetterOf(
    { what: 'reading:price', where: NO_ADDRESS },
    'not JSON',
    new Uint8Array(megabytes * MEGABYTE),
  );
const HASH = /^sha256 [0-9a-f]{64}, (\d+) bytes$/;
const kept = (bytes: Uint8Array) =>
  bytes.length < 200 ? `hash of ${HASH.exec(Buffer.from(bytes).toString())?.[1]}` : bytes.length;

test('unreadable replies are kept whole within a budget of bytes, and as a hash while it is used up', async () => {
  let now = 0;
  const log = captureLog();
  const bounded = withBoundedLetters(log, () => now);
  for (const megabytes of [4, 3, 2, 1]) await bounded.append([letter(megabytes)]);
  await bounded.append([letter(1)]);
  now = 500_000;
  await bounded.append([letter(1)]);
  now = 1_000_000;
  await bounded.append([letter(1)]);
  expect(log.letters().map(({ bytes }) => kept(bytes))).toEqual([
    ...[4 * MEGABYTE, 3 * MEGABYTE, `hash of ${2 * MEGABYTE}`, MEGABYTE],
    ...[`hash of ${MEGABYTE}`, `hash of ${MEGABYTE}`, MEGABYTE],
  ]);
});

test('six or more unreadable replies of 3 MB add less than 9 MB to the log', async () => {
  const server = await serveAnswers(() => ({ body: 'x'.repeat(3 * MEGABYTE) }));
  const stop = new AbortController();
  const log = captureLog(() => {
    if (log.letters().length >= 6) stop.abort();
  });
  const env = { OPTIONS_VENUE_URL: server.url, LAUNCHPAD_CATALOGUE_URL: server.url, POLL_INTERVAL_MS: '100' };
  await runPollers(pollOptions(env, { log, signal: stop.signal }));
  await server.close();
  const bytes = log.letters().reduce((sum, one) => sum + one.bytes.length, 0);
  expect(bytes).toBeLessThan(9 * MEGABYTE);
});
