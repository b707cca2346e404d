import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planRounds } from '../../../ingest/log/kafka/append-rounds.ts';
import { createAssembly } from '../../../ingest/log/kafka/record-parts.ts';
import type { LogEntry } from '../../../ingest/log/port.ts';
import { decodeRecord } from '../../../ingest/log/record-codec.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { accountRecord, markerRecord } from '../support/records.ts';

const SEED = Number(process.env.SEED ?? 20_261_122);
const PARTITIONS = { accounts: 1, transactions: 1, readings: 1, 'dead-letters': 1 };
const PLACE = 'accounts/0';

/** What a partition of accounts holds after these appends. */
const logged = (appends: readonly (readonly LogRecord[])[]): Uint8Array[] =>
  appends.flatMap((records) =>
    planRounds(records, PARTITIONS)
      .flat()
      .filter(({ topic }) => topic === 'accounts')
      .map(({ value }) => value),
  );

const entryAt = (log: readonly Uint8Array[], at: number): LogEntry => ({
  offset: BigInt(at),
  record: decodeRecord(log[at] as Uint8Array),
});

const shortOf = (record: LogRecord): string | null =>
  record.kind === 'account' ? `${record.slot}: ${record.data.length} of ${record.data.at(-1)}` : null;

const large = (slot: bigint, bytes: number) =>
  accountRecord(slot, 1, new Uint8Array(bytes).fill(Number(slot)));

describe('a record in parts', () => {
  test(`is joined whatever is resent or comes in between, and wherever readers resume (seed ${SEED})`, () => {
    const size = fc.constantFrom(50, 900_000, 1_700_000, 2_500_000);
    const append = fc.record({ size, brokenOff: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(append, { minLength: 1, maxLength: 5 }),
        fc.infiniteStream(fc.nat(3)),
        (plan, lots) => {
          const whole = plan.map(({ size }, at) => large(BigInt(at + 1), size));
          const log = whole.flatMap((record, at) => {
            const values = logged([[record]]);
            // An append that failed in the middle is appended again.
            const before = plan[at]?.brokenOff === true ? values.slice(0, -1) : [];
            return [...before, ...logged([[markerRecord(9n)]]), ...values];
          });
          const found = new Set<string>();
          let assembly = createAssembly();
          let committed = 0;
          for (let at = 0; at < log.length; at += 1) {
            for (const { record } of assembly.take(PLACE, entryAt(log, at))) {
              const short = shortOf(record);
              if (short !== null) found.add(short);
            }
            assembly.applied(PLACE);
            committed = Number(assembly.pendingFrom(PLACE) ?? BigInt(at + 1));
            if (lots.next().value === 0 && committed === at + 1) continue;
            if (lots.next().value === 0) {
              assembly = createAssembly();
              at = committed - 1;
            }
          }
          expect([...found].sort()).toEqual(whole.map(shortOf).sort());
        },
      ),
      { seed: SEED, numRuns: 20 },
    );
  });

  test('whose other parts do not come becomes a dead letter after a while, and no longer holds back the commit', () => {
    const log = [...logged([[large(1n, 1_700_000)]]).slice(0, 2), ...logged([[accountRecord(2n, 2)]])];
    const assembly = createAssembly({ mostBehind: 10n, mostBytes: 10_000_000 });
    expect(assembly.take(PLACE, { ...entryAt(log, 0), offset: 7n })).toHaveLength(1);
    assembly.take(PLACE, { ...entryAt(log, 1), offset: 8n });
    assembly.applied(PLACE);
    expect(assembly.pendingFrom(PLACE)).toBe(7n);
    const entries = assembly.take(PLACE, { ...entryAt(log, 2), offset: 18n });
    expect(entries.map(({ record }) => record)).toMatchObject([
      { kind: 'dead-letter', what: 'log-record', where: 'accounts/0/7' },
      { kind: 'account', slot: 2n },
    ]);
    assembly.applied(PLACE);
    expect(assembly.pendingFrom(PLACE)).toBeNull();
  });

  test('without its first part is no dead letter if reading may begin anywhere; without later parts it is one', () => {
    const [one, other] = [1n, 2n].map((slot) => logged([[large(slot, 1_700_000)]])) as [
      Uint8Array[],
      Uint8Array[],
    ];
    const log = [...one.slice(1), ...other.slice(0, 2), ...logged([[accountRecord(3n, 2)]])];
    const letters = (beginsAnywhere: boolean) => {
      const assembly = createAssembly({ mostBehind: 10n, mostBytes: 10_000_000, beginsAnywhere });
      const offsets = [0n, 1n, 2n, 3n, 18n];
      return log
        .flatMap((_, at) => assembly.take(PLACE, { ...entryAt(log, at), offset: offsets[at] as bigint }))
        .flatMap(({ record }) => (record.kind === 'dead-letter' ? [record.where] : []));
    };
    expect(letters(true)).toEqual(['accounts/0/2']);
    expect(letters(false)).toEqual(['accounts/0/0', 'accounts/0/2']);
  });

  test('is joined again when only its last part is read again, after its batch failed', () => {
    const log = logged([[large(1n, 1_700_000)]]);
    const assembly = createAssembly();
    const kinds = (at: number) => assembly.take(PLACE, entryAt(log, at)).map(({ record }) => record.kind);
    expect(log.flatMap((_, at) => kinds(at))).toEqual(['part', 'part', 'account']);
    expect(kinds(2)).toEqual(['account']);
  });

  test('does not count towards the byte limit once joined: 80 of them in one batch are all joined', () => {
    const assembly = createAssembly();
    const counts: Record<string, number> = {};
    let offset = 0n;
    for (let slot = 1n; slot <= 80n; slot += 1n)
      for (const value of logged([[large(slot, 950_000)]])) {
        for (const { record } of assembly.take(PLACE, { offset, record: decodeRecord(value) }))
          counts[record.kind] = (counts[record.kind] ?? 0) + 1;
        offset += 1n;
      }
    expect(counts).toEqual({ part: 80, account: 80 });
    expect(assembly.pendingFrom(PLACE)).toBeNull();
  });

  test('that is the oldest incomplete one becomes a dead letter when the waiting parts exceed the byte limit', () => {
    const assembly = createAssembly({ mostBehind: 1_000n, mostBytes: 2_000_000 });
    const begun = [1n, 2n, 3n].map((slot) => logged([[large(slot, 950_000)]]));
    const taken = begun.flatMap(([first], at) =>
      assembly.take(PLACE, { offset: BigInt(at), record: decodeRecord(first as Uint8Array) }),
    );
    expect(taken.map(({ record }) => record)).toMatchObject([
      { kind: 'part' },
      { kind: 'part' },
      { kind: 'dead-letter', where: 'accounts/0/0' },
      { kind: 'part' },
    ]);
    expect(assembly.pendingFrom(PLACE)).toBe(1n);
  });
});
