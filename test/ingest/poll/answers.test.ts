import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { pollMetrics } from '../../../ingest/poll/metrics.ts';
import { pollersOf } from '../../../ingest/poll/pollers.ts';
import type { PollOptions } from '../../../ingest/poll/round.ts';
import { type AnsweringServer, serveAnswers } from '../../support/answering.ts';
import { captureLog, pollOptions } from './support/capture.ts';

let server: AnsweringServer;
afterEach(() => server.close());

/** Runs a round of the pollers of those names; returns how often each source answered well or not. */
async function answersOf(
  names: readonly string[],
  env: Record<string, string>,
  more: Partial<PollOptions> = {},
): Promise<Record<string, number>> {
  const registry = new Registry();
  const counted = pollMetrics(captureLog(), registry);
  const pollers = pollersOf(pollOptions(env, { ...counted, ...more }));
  for (const { round } of pollers.filter(({ name }) => names.includes(name)))
    await round((records) => counted.log.append(records)).catch(() => {});
  const { values = [] } = (await registry.getSingleMetric('poll_answers_total')?.get()) ?? {};
  return Object.fromEntries(values.map(({ labels, value }) => [`${labels.source}: ${labels.result}`, value]));
}

/** A venue account at the perpetuals venue. */
const ACCOUNT = {
  ...{ address: 'venue account', policy: 'policy', assetClass: 16, attested: 1 },
  remoteAccount: '00'.repeat(12) + 'ab'.repeat(20),
};

test('a failed request to the catalogue is counted as failed, though it makes no reading', async () => {
  server = await serveAnswers(() => ({ status: 502, body: 'bad gateway' }));
  expect(await answersOf(['catalogue'], { LAUNCHPAD_CATALOGUE_URL: server.url })).toEqual({
    'reads of the catalogue: failed': 1,
  });
});

test('an answer of the options venue counts as good despite an invalid row, and as failed on a 500', async () => {
  server = await serveAnswers(() => ({ body: { result: [{ currency: 7 }] } }));
  expect(await answersOf(['options'], { OPTIONS_VENUE_URL: server.url })).toEqual({
    'options venue: good': 1,
  });
  server.close();
  server = await serveAnswers(() => ({ status: 500, body: 'no' }));
  expect(await answersOf(['options'], { OPTIONS_VENUE_URL: server.url })).toEqual({
    'options venue: failed': 1,
  });
});

test.each([
  ['options', { 'options venue: failed': 1, 'perp venue: good': 1 }],
  ['perpetuals', { 'options venue: good': 1, 'perp venue: failed': 1 }],
])('answers of each venue are counted apart: the %s venue fails, the other is good', async (down, counts) => {
  server = await serveAnswers(({ path, body }) => {
    const venue = path.startsWith('/options') ? 'options' : 'perpetuals';
    if (venue === down) return { status: 400, body: 'no' };
    if (venue === 'options') return { body: { result: [] } };
    if ((body as { type: string }).type === 'userAbstraction') return { body: '"default"' };
    return { body: { marginSummary: { accountValue: '1', totalNtlPos: '0' }, time: 1_790_000_000_000 } };
  });
  const env = { OPTIONS_VENUE_URL: `${server.url}/options`, PERP_VENUE_URL: server.url };
  const { store } = pollOptions(env, {});
  const listed = { ...store, query: async () => [ACCOUNT] as never[] };
  expect(await answersOf(['accounts at perp', 'options'], env, { store: listed })).toEqual(counts);
});
