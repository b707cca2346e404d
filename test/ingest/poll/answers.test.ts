import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { pollMetrics } from '../../../ingest/poll/metrics.ts';
import { pollersOf } from '../../../ingest/poll/pollers.ts';
import { type AnsweringServer, serveAnswers } from '../../support/answering.ts';
import { captureLog, pollOptions } from './support/capture.ts';

let server: AnsweringServer;
afterEach(() => server.close());

/** Runs a round of one poller; returns how often each source answered well or not. */
async function answersOf(name: string, env: Record<string, string>): Promise<Record<string, number>> {
  const registry = new Registry();
  const counted = pollMetrics(captureLog(), registry);
  const poller = pollersOf(pollOptions(env, counted)).find((one) => one.name === name);
  await poller?.round((records) => counted.log.append(records)).catch(() => {});
  const { values = [] } = (await registry.getSingleMetric('poll_answers_total')?.get()) ?? {};
  return Object.fromEntries(values.map(({ labels, value }) => [`${labels.source}: ${labels.result}`, value]));
}

test('a failed request to the catalogue is counted as failed, though it makes no reading', async () => {
  server = await serveAnswers(() => ({ status: 502, body: 'bad gateway' }));
  expect(await answersOf('catalogue', { LAUNCHPAD_CATALOGUE_URL: server.url })).toEqual({
    'reads of the catalogue: failed': 1,
  });
});

test('an answer of the options venue counts as good despite an invalid row, and as failed on a 500', async () => {
  server = await serveAnswers(() => ({ body: { result: [{ currency: 7 }] } }));
  expect(await answersOf('options', { OPTIONS_VENUE_URL: server.url })).toEqual({ 'options venue: good': 1 });
  server.close();
  server = await serveAnswers(() => ({ status: 500, body: 'no' }));
  expect(await answersOf('options', { OPTIONS_VENUE_URL: server.url })).toEqual({
    'options venue: failed': 1,
  });
});
