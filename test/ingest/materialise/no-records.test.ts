import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { entryOf } from '../../../ingest/log/kafka/reader.ts';
import type { LogEntry } from '../../../ingest/log/port.ts';
import { decodeRecord, encodeRecord, UnreadableRecordError } from '../../../ingest/log/record-codec.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import type { Reading } from '../../../schemas/readings.ts';
import type { DeadLetterRecord } from '../../../schemas/records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, PROGRAM } from './support/records.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase();
});
afterAll(() => store.close());

const written = (reading: unknown): Buffer =>
  encodeRecord({ kind: 'reading', readAt: 7, reading: reading as Reading });

/** The bytes of a reading record with this text in it. */
function framed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([written({}).subarray(0, 2 + 9), length, bytes]);
}

const pair = { mint: 'm', symbol: 'S', name: 'N', decimals: 6, category: 'c', launchable: true };
const price = { mint: 'm', source: 'second', usd: '1', observedAt: null, startMarketCapUsd: null };
/** A valid reading of each kind. */
const READINGS: Reading[] = [
  {
    ...{ type: 'venue_account', venueAccount: 'v', venue: 'perp', equity: '1', notional: null, reason: null },
    ...{ reachable: true, error: null, venueTime: 5 },
  },
  { type: 'stream', connected: true, since: 5, reason: null, addresses: 1, overRpc: 0 },
  { type: 'venue_status', venue: 'perp', ok: true, error: null },
  { type: 'program_status', program: 'amm', address: 'a', exists: true, error: null },
  { type: 'catalogue', rows: [{ ...pair, launchpadReady: true, logoUrl: null }] },
  { type: 'price', ...price, graduationMarketCapUsd: 1.5, graduationMultiple: null } as Reading,
  { type: 'metadata', mint: 'm', uri: 'u', imageUrl: null, error: null },
  { type: 'currencies', items: [{ currency: 'C', spotPrice: null, hasOptions: true, hasPerps: false }] },
];

/** Yields the value with each field in turn left out or of another type. */
function* spoilt(value: object): Generator<object> {
  for (const [name, field] of Object.entries(value)) {
    yield { ...value, [name]: undefined };
    yield { ...value, [name]: { an: 'object' } };
    if (Array.isArray(field)) for (const one of spoilt(field[0])) yield { ...value, [name]: [one] };
  }
}

const SPOILT = READINGS.flatMap((reading) => [...spoilt(reading)]);

test('a reading that lacks a field, or has one of another type, does not decode as a record', () => {
  for (const reading of READINGS) expect(decodeRecord(written(reading))).toMatchObject({ reading });
  expect(SPOILT.length).toBeGreaterThan(80);
  for (const reading of SPOILT)
    expect(() => decodeRecord(written(reading)), JSON.stringify(reading)).toThrow(UnreadableRecordError);
});

/** A record whose first byte says another version, and one whose second byte says a kind that this reader lacks. */
const OF_LATER = [
  [0, 2],
  [1, 200],
].map(([at, byte]) => {
  const bytes = Buffer.from(written(READINGS[0]));
  bytes[at as number] = byte as number;
  return bytes;
});

test('a record of a later version, or of a kind that only a later version has, does not decode', () => {
  const reasons = ['a record of version 2', 'a record of kind 200'];
  for (const [at, bytes] of OF_LATER.entries())
    expect(() => decodeRecord(bytes)).toThrow(new UnreadableRecordError(reasons[at]));
});

test('an entry that does not decode becomes a dead letter, and the entry behind it is applied', async () => {
  const texts = ['{"a":😀}', '{"type":"of_a_later_version"}', '{}', '5', 'null', '[]', ''];
  const values = [...texts.map(framed), ...SPOILT.map(written), ...OF_LATER];
  const last: Reading = { type: 'venue_status', venue: 'perp', ok: true, error: 'cut in \ud83d' };
  const entries = [...values, written(last)].map((value, at) => entryOf('readings', 0, BigInt(at), value));
  const kept: DeadLetterRecord[] = [];
  const keepDeadLetters = async (letters: readonly DeadLetterRecord[]) => void kept.push(...letters);
  const apply = createMaterialiser({ store, programId: PROGRAM, keepDeadLetters });
  await apply(batchOf('readings', entries as LogEntry[]));
  const letters = await store.query<{ at: string; reason: string }>(
    'SELECT at, reason FROM dead_letters FINAL',
  );
  expect(letters).toHaveLength(values.length);
  expect(kept).toHaveLength(values.length);
  expect(letters.map(({ at }) => at).toSorted()).toEqual(
    values.map((_, at) => `readings/0/${at}`).toSorted(),
  );
  expect(letters.find(({ at }) => at === 'readings/0/0')?.reason).toContain('\ufffd');
  expect(await store.query('SELECT ok, error FROM venue_status FINAL')).toEqual([
    { ok: 1, error: 'cut in \ufffd' },
  ]);
});
