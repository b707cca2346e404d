import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { StreamEvent } from '../../../ingest/stream/event.ts';
import { streamMetrics } from '../../../ingest/stream/metrics.ts';
import { streamWords } from '../../../ingest/stream/state.ts';
import { trusting } from '../../support/certificate.ts';
import { openSwitchboard, type Switchboard } from '../../support/switchboard.ts';
import { wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage, until } from '../support/stream-stage.ts';
import { type Answers, ENDING, INSECURE, SILENT } from '../support/unkind.ts';

// gRPC reads this once, as it is loaded: none of this machine's certificates should be trusted here.
vi.hoisted(() => vi.stubEnv('GRPC_DEFAULT_SSL_ROOTS_FILE_PATH', ''));

const SILENCE_MS = 2_000;
const PATIENT_MS = 30_000;

let stage: StreamStage;
let board: Switchboard;
beforeEach(async () => {
  stage = await openStreamStage({ seed: 'unkind', policies: 3 });
  board = await openSwitchboard();
  await stage.live(10);
});
afterEach(async () => {
  await stage.close();
  await board.close();
});

const ends = (events: readonly StreamEvent[]) =>
  events.flatMap((event) => (event.type === 'disconnected' ? [event.reason] : []));

/** What metrics, `/ready` and the screen show for these events. */
async function told(events: readonly StreamEvent[]) {
  const registry = new Registry();
  const metrics = streamMetrics(registry);
  for (const event of events) metrics.onEvent(event);
  const connected = /^stream_connected (\d)/m.exec(await registry.metrics())?.[1];
  return { connected, words: streamWords(metrics.state()) };
}

/** Starts the stream at the address of a misbehaving server, and checks how that is reported. */
async function expectTold(reason: RegExp, silenceMs: number, scheme = 'http'): Promise<StreamEvent[]> {
  const { events } = stage.start({ endpoint: `${scheme}://127.0.0.1:${board.port}`, silenceMs });
  await until('it is told', () => ends(events).length > 0);
  for (const end of ends(events)) expect(end).toMatch(reason);
  expect(await told(events)).toEqual({ connected: '0', words: expect.stringMatching(reason) });
  expect(events.some(({ type }) => type === 'connected' || type === 'gap')).toBe(false);
  return events;
}

async function expectWell(events: readonly StreamEvent[]): Promise<void> {
  board.connect(stage.geyser.port);
  await stage.liveUntil('it streams', () => events.some(({ type }) => type === 'released'));
  await stage.settled();
  await stage.restUntil(
    'every state is the newest',
    () => wrongStates(stage.chain, stage.model).length === 0,
  );
  expect((await told(events)).connected).toBe('1');
}

describe('a misbehaving server is reported, and the stream starts once a good server is at its address', () => {
  test.each(Object.entries(SILENT))('one that stays silent: %s', async (_, answers) => {
    board.answer(answers);
    const events = await expectTold(new RegExp(`no new slot for ${SILENCE_MS} ms$`), SILENCE_MS);
    await expectWell(events);
  });

  test.each(Object.entries(ENDING))('one that ends the stream: %s', async (_, [answers, words]) => {
    board.answer(answers);
    await expectWell(await expectTold(words, PATIENT_MS));
  });
});

test.each(Object.entries(INSECURE))('an https endpoint with %s is reported', async (_, [answers, words]) => {
  board.answer(answers);
  await expectTold(words, PATIENT_MS, 'https');
});

test('an https endpoint with a trusted certificate of another host is reported as not connected, with the reason', async () => {
  board.answer((INSECURE['a certificate that nobody trusts'] as [Answers, RegExp])[0]);
  await trusting(() => expectTold(/certificate is of another host$/, PATIENT_MS, 'https'));
});
