import { afterEach, expect, test } from 'vitest';
import type { ProviderModes } from '../../../devnet/geyser/modes.ts';
import type { AccountRecord, LogRecord, MarkerRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';
import { watchedLog } from '../support/watched-log.ts';

const SEED = process.env.SEED ?? 'behind-1';
/** So long that no stream is started again: without a replay it would bring nothing of what it missed. */
const SILENCE_MS = 1_200_000;
let stage: StreamStage;
afterEach(() => stage.close());

const streamed = (records: readonly LogRecord[]) =>
  records.filter(
    (record): record is AccountRecord =>
      record.kind === 'account' && record.source === 'stream' && record.expected === 'token_account',
  );
const markers = (records: readonly LogRecord[]) =>
  records.filter((record): record is MarkerRecord => record.kind === 'marker');

/** Streams, stalls the followed stream while the core goes on, ends the process, and begins again. */
async function stopBehind(modes: Partial<ProviderModes>) {
  stage = await openStreamStage({ seed: SEED, policies: 10, modes });
  const before: LogRecord[] = [];
  await stage.live(30);
  const first = stage.start({ log: watchedLog(before), silenceMs: SILENCE_MS });
  await stage.settled();
  await stage.live(20);
  await stage.settled();
  const known = new Set(streamed(before).map(({ address }) => encodeBase58(address)));
  const { slot: from } = stage.chain.tip();
  stage.geyser.faults.stall('followed');
  await stage.live(10);
  await stage.restUntil('the core goes on alone', () => (markers(before).at(-1)?.slot ?? 0n) >= from + 5n);
  await first.stop();
  const position = await stage.model.position();
  stage.geyser.faults.stall(false);
  const after: LogRecord[] = [];
  stage.start({ log: watchedLog(after) });
  await stage.liveUntil('it streams again', () => markers(after).length > 3);
  await stage.settled();
  return { before, after, known, from, position };
}

test(`what the followed stream had not brought when the process ended is brought after the restart (seed ${SEED})`, async () => {
  const { before, after, known, from, position } = await stopBehind({});
  expect(position?.followed).toBe(from);
  expect(position?.slot).toBeGreaterThan(from);
  expect(markers(before).at(-1)?.followed).toMatchObject({ slot: from });
  const written: string[] = [];
  for (let slot = from + 1n; slot <= (position?.slot as bigint); slot += 1n)
    for (const { address } of stage.chain.block(slot)?.writes ?? []) {
      const text = encodeBase58(address);
      if (known.has(text)) written.push(`${text} in ${slot}`);
    }
  expect(written.length).toBeGreaterThan(0);
  const brought = new Set(streamed(after).map(({ address, slot }) => `${encodeBase58(address)} in ${slot}`));
  expect(written.filter((one) => !brought.has(one))).toEqual([]);
  expect(markers(after).flatMap(({ missed }) => missed ?? [])).toEqual([]);
});

test('without a replay, a marker names the slots that the followed stream missed across a restart', async () => {
  const { after, from, position } = await stopBehind({ replay: 'off' });
  const [missed] = markers(after).flatMap((marker) => marker.missed ?? []);
  expect(missed?.after).toBe(from);
  expect(missed?.to).toBeGreaterThan(position?.slot as bigint);
});
