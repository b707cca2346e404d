import dns from 'node:dns';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { StreamEvent } from '../../../ingest/stream/event.ts';
import { openSwitchboard, type Switchboard } from '../../support/switchboard.ts';
import { openStreamStage, type StreamStage, until } from '../support/stream-stage.ts';

const SILENCE_MS = 2_000;
const HOST = 'elsewhere.test';

let stage: StreamStage;
let board: Switchboard;
beforeEach(async () => {
  stage = await openStreamStage({ seed: 'names', policies: 3 });
  board = await openSwitchboard();
  await stage.live(10);
});
afterEach(async () => {
  // The stream stops, whatever it waits for then.
  await stage.close();
  await board.close();
  vi.restoreAllMocks();
});

/** Has name lookups answer this from now on. */
function resolves(answer: () => Promise<dns.LookupAddress[]>) {
  return vi.spyOn(dns.promises, 'lookup').mockImplementation(answer as never);
}
const here = async () => [{ address: '127.0.0.1', family: 4 }];

const ends = (events: readonly StreamEvent[]) =>
  events.flatMap((event) => (event.type === 'disconnected' ? [event.reason] : []));

async function expectStreams(events: readonly StreamEvent[]): Promise<void> {
  await stage.liveUntil('it streams', () => events.some(({ type }) => type === 'released'));
  await stage.settled();
}

test('a DNS lookup that gets no answer is reported as silence, and the stream starts once it is answered', async () => {
  const lookup = resolves(() => new Promise(() => {}));
  const { events } = stage.start({ endpoint: `http://${HOST}:${board.port}`, silenceMs: SILENCE_MS });
  await until('it is told twice', () => ends(events).length > 1);
  for (const end of ends(events)) expect(end).toBe(`no new slot for ${SILENCE_MS} ms`);
  expect(lookup).toHaveBeenCalledWith(HOST, expect.anything());
  board.connect(stage.geyser.port);
  resolves(here);
  await expectStreams(events);
});

test('a stream that waits for a DNS lookup stops at once', async () => {
  const lookup = resolves(() => new Promise(() => {}));
  const { events } = stage.start({ endpoint: `http://${HOST}:${board.port}` });
  await until('it is looked up', () => lookup.mock.calls.length > 0);
  await stage.close();
  expect(ends(events)).toEqual([]);
});
