import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MOST_RECORD_BYTES, type Outgoing, planRounds } from '../../../ingest/log/kafka/append-rounds.ts';
import { createAssembly } from '../../../ingest/log/kafka/record-parts.ts';
import { decodeRecord, encodeRecord } from '../../../ingest/log/record-codec.ts';
import type { LogRecord, MarkerRecord } from '../../../schemas/records.ts';
import { accountRecord, gapRecord, markerRecord, nameOf, transactionRecord } from '../support/records.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);
const PARTITIONS = { accounts: 3, transactions: 4, readings: 1, 'dead-letters': 1 };
const namesOf = (round: readonly Outgoing[]) => round.map(({ value }) => nameOf(decodeRecord(value)));

test('a marker goes to every partition of accounts and transactions, after everything before it', () => {
  const rounds = planRounds([accountRecord(1n, 1), transactionRecord(1n, 2), markerRecord(1n)], PARTITIONS);
  expect(rounds.map(namesOf)).toEqual([
    ['account 1', 'transaction 2'],
    Array.from({ length: 7 }, () => 'marker 1'),
  ]);
  const places = rounds[1]?.map(({ topic, partition }) => `${topic}/${partition}`);
  expect(new Set(places).size).toBe(7);
});

test('a recompute record goes to the partition that it names', () => {
  const [round] = planRounds([{ kind: 'recompute', partition: 2, mints: ['m'], slots: [0n] }], PARTITIONS);
  expect(round?.map(({ topic, partition }) => [topic, partition])).toEqual([['transactions', 2]]);
});

test('of several markers in one append only the last is sent, and covers the slots of all', () => {
  const slots = [1n, 2n, 3n].flatMap((slot) => [accountRecord(slot, Number(slot)), markerRecord(slot)]);
  expect(planRounds(slots, PARTITIONS).map((round) => new Set(namesOf(round)))).toEqual([
    new Set(['account 1', 'account 2', 'account 3']),
    new Set(['marker 3']),
  ]);
  expect(sentMarkers(slots)).toEqual([[3n, 0n]]);
});

const sentMarkers = (records: readonly LogRecord[]) => {
  const one = { accounts: 1, transactions: 0, readings: 1, 'dead-letters': 1 };
  return planRounds(records, one)
    .flat()
    .map(({ value }) => decodeRecord(value))
    .flatMap((record) => (record.kind === 'marker' ? [[record.slot, record.parent]] : []));
};

test('an earlier marker is sent too if slots are missing after it, an hour ends with it, or it reports missed slots', () => {
  const at = (slot: bigint, blockTime = 0, parent = slot - 1n): MarkerRecord => ({
    ...{ kind: 'marker', slot, parent, blockTime },
  });
  expect(sentMarkers([at(1n), at(2n), at(9n, 0, 8n), at(10n)])).toEqual([
    [2n, 0n],
    [10n, 8n],
  ]);
  expect(sentMarkers([at(1n, 3_599), at(2n, 3_600), at(3n, 3_601)])).toEqual([
    [1n, 0n],
    [3n, 1n],
  ]);
  const missed = { after: 0n, to: 1n };
  expect(sentMarkers([{ ...at(1n), missed }, at(2n)])).toEqual([
    [1n, 0n],
    [2n, 1n],
  ]);
});

test.each<[string, LogRecord, string]>([
  ['a gap', gapRecord(2n, 9n), 'gap 2'],
  ['a verified record', { kind: 'verified', slot: 1n, struck: [] }, 'verified'],
])(
  '%s goes to every partition of transactions, in a round between the records before and after it',
  (_, record, name) => {
    const records = [transactionRecord(1n, 1), markerRecord(1n), record, transactionRecord(10n, 2)];
    const rounds = planRounds(records, PARTITIONS);
    expect(rounds.map((round) => [...new Set(namesOf(round))])).toEqual([
      ['transaction 1'],
      ['marker 1'],
      [name],
      ['transaction 2'],
    ]);
    expect(rounds[2]?.map(({ topic, partition }) => `${topic}/${partition}`).sort()).toEqual(
      [0, 1, 2, 3].map((partition) => `transactions/${partition}`),
    );
  },
);

test(`a round stays below 1 MB per partition, and records keep their order (seed ${SEED})`, () => {
  const record = fc.record({ name: fc.nat(5), size: fc.nat(400_000) });
  fc.assert(
    fc.property(fc.array(record, { maxLength: 30 }), (plan) => {
      const records = plan.map(({ name, size }, at) => accountRecord(BigInt(at), name, new Uint8Array(size)));
      const rounds = planRounds(records, PARTITIONS);
      for (const round of rounds) {
        const sizes = [0, 0, 0];
        for (const { partition, value } of round) sizes[partition] = (sizes[partition] ?? 0) + value.length;
        expect(Math.max(...sizes)).toBeLessThan(1_000_000);
      }
      const sent = rounds.flat().map(({ value }) => decodeRecord(value));
      expect(sent.map(nameOf)).toEqual(records.map(nameOf));
    }),
    { seed: SEED, numRuns: 50 },
  );
});

test.each([
  ['an account', 'accounts', (bytes: number) => accountRecord(5n, 1, new Uint8Array(bytes))],
  ['a catalogue', 'readings', catalogueOf],
] as const)(
  '%s too large for one message is sent in parts, to the partition that it would have gone to',
  (_, topic, sized) => {
    const [[small]] = planRounds([sized(1)], PARTITIONS) as [[Outgoing]];
    const parts = planRounds([sized(2 * MOST_RECORD_BYTES), markerRecord(5n)], PARTITIONS)
      .flat()
      .filter(({ topic: sent }) => sent === topic)
      .slice(0, 3);
    for (const message of parts) {
      expect([message.topic, message.partition]).toEqual([topic, small.partition]);
      expect(message.value.length).toBeLessThan(MOST_RECORD_BYTES);
    }
    const read = parts.map(({ value }) => decodeRecord(value));
    expect(read).toMatchObject([0, 1, 2].map((at) => ({ kind: 'part', at, count: 3 })));
    const assembly = createAssembly();
    const entries = read.flatMap((record, at) => assembly.take('place', { offset: BigInt(at), record }));
    const whole = encodeRecord(entries.at(-1)?.record as LogRecord);
    expect(Buffer.compare(whole, encodeRecord(sized(2 * MOST_RECORD_BYTES)))).toBe(0);
  },
);

test.each([
  ['of another kind', largeProfit()],
  ['larger than any account', accountRecord(5n, 1, new Uint8Array(60_000_000))],
])('a record that is too large and %s goes to the dead letters with its hash and length', (_, record) => {
  const [round] = planRounds([record], PARTITIONS);
  const [message] = round ?? [];
  expect(message?.topic).toBe('dead-letters');
  const letter = decodeRecord(message?.value as Uint8Array);
  expect(letter).toMatchObject({ kind: 'dead-letter', what: record.kind });
  const text = letter.kind === 'dead-letter' ? Buffer.from(letter.bytes).toString() : '';
  expect(text).toMatch(/^sha256 [0-9a-f]{64}, \d{6,8} bytes$/);
});

function largeProfit() {
  const policy = 'x'.repeat(MOST_RECORD_BYTES);
  return { kind: 'profit', signature: new Uint8Array(64), policy, profit: 1n } as const;
}

/** A catalogue reading of about so many bytes in a log. */
function catalogueOf(bytes: number): LogRecord {
  const row = {
    ...{ mint: 'm'.repeat(400), symbol: 'S', name: 'N', decimals: 6, category: 'custom' as const },
    ...{ launchable: true, launchpadReady: true, logoUrl: null },
  };
  const rows = Array.from({ length: Math.ceil(bytes / 540) }, () => row);
  return { kind: 'reading', readAt: 1, reading: { type: 'catalogue', rows } };
}
