import { createHash } from 'node:crypto';
import { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { extractEvents } from '../../../schemas/extract/extract.ts';
import { MalformedError } from '../../../schemas/malformed.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { legibility, namedAccounts } from '../../../schemas/transaction/legibility.ts';
import type { ChainTransaction } from '../../../schemas/transaction/parts.ts';
import { readTransaction } from '../../../schemas/transaction/transaction.ts';
import { anyEvent, anyKey, SEED } from '../support/arbitraries.ts';
import { toGeyser, toJson } from '../support/encode-transaction.ts';
import { fixture } from '../support/fixtures.ts';
import { kitEncode } from '../support/kit-codecs.ts';
import { cutAtEveryLine } from '../support/local-transactions.ts';
import { credit, ours, POLICY, theirs } from '../support/program-calls.ts';
import { type Run, run, type Step } from '../support/run.ts';

const PROGRAM = new Uint8Array(32).fill(1);

const anyAccounts = fc.uniqueArray(fc.record({ address: anyKey, writable: fc.boolean() }), {
  maxLength: 4,
  selector: ({ address }) => Buffer.from(address).toString('hex'),
});
const anyBytes = anyEvent.map(({ name, fields }) => kitEncode(name, fields));

/** Calls of the program and of others, nested, with events of both encodings and noise. */
const { anyRun } = fc.letrec<{ anyRun: Run; anyStep: Step }>((tie) => ({
  anyStep: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    anyBytes.map((emit) => ({ emit })),
    anyBytes.map((emitCpi) => ({ emitCpi })),
    fc.string({ maxLength: 20 }).map((log) => ({ log })),
    tie('anyRun').map((call) => ({ call })),
  ),
  anyRun: fc.record({
    program: fc.oneof(fc.constant(PROGRAM), anyKey),
    accounts: anyAccounts,
    data: fc.uint8Array({ maxLength: 40 }),
    steps: fc.array(tie('anyStep'), { maxLength: 3 }),
  }),
}));
const anyTransaction = fc
  .tuple(fc.array(anyRun, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([runs, failed]) => run(runs, failed));

/** What the program emitted, in execution order, from the script and not from logs. */
function emitted(what: Run): Uint8Array[] {
  const mine = Buffer.compare(what.program, PROGRAM) === 0;
  return (what.steps ?? []).flatMap((step) => {
    if ('call' in step) return emitted(step.call);
    if (!mine) return [];
    return 'emit' in step ? [step.emit] : 'emitCpi' in step ? [step.emitCpi] : [];
  });
}

describe('a transaction', () => {
  test('reads the same from the stream and from RPC, with and without lookup tables', () => {
    fc.assert(
      fc.property(anyTransaction, fc.boolean(), (tx, lookups) => {
        const streamed = readTransaction({ format: 'geyser', payload: toGeyser(tx, lookups) });
        const read = readTransaction({ format: 'json', payload: toJson(tx, lookups) });
        expect(plain(streamed)).toEqual(plain(read));
        expect(streamed.logs).toEqual(tx.logs);
        expect(streamed.failed).toBe(tx.failed);
        expect(streamed.calls.map(({ depth }) => depth)).toEqual(tx.calls.map(({ depth }) => depth));
      }),
      { seed: SEED, numRuns: 150 },
    );
  });

  test('of version 1 reads as one of version 0 does, from the stream and from RPC', () => {
    fc.assert(
      fc.property(anyTransaction, (tx) => {
        const expected = plain(readTransaction({ format: 'geyser', payload: toGeyser(tx, false) }));
        const streamed = readTransaction({ format: 'geyser', payload: toGeyser(tx, false, true) });
        const read = readTransaction({ format: 'json', payload: toJson(tx, false, true) });
        expect(plain(streamed)).toEqual(expected);
        expect(plain(read)).toEqual(expected);
      }),
      { seed: SEED, numRuns: 50 },
    );
  });

  test('of any nesting yields exactly the events that the program emitted, in execution order', () => {
    fc.assert(
      fc.property(fc.array(anyRun, { minLength: 1, maxLength: 3 }), fc.boolean(), (runs, lookups) => {
        const tx = readTransaction({ format: 'geyser', payload: toGeyser(run(runs), lookups) });
        const extract = extractEvents(tx, PROGRAM);
        const expected = extractEvents(
          run([{ program: PROGRAM, steps: runs.flatMap(emitted).map((emit) => ({ emit })) }]),
          PROGRAM,
        );
        if (extract.status !== 'whole' || expected.status !== 'whole') throw new Error('incomplete');
        expect(extract.events.map(plain)).toEqual(expected.events.map(plain));
      }),
      { seed: SEED, numRuns: 400 },
    );
  });

  test('has the right writable flag on every account, those of lookup tables included', () => {
    const accounts = [11, 12, 13, 14, 15].map((fill, at) => ({
      address: new Uint8Array(32).fill(fill),
      writable: at % 2 === 0,
    }));
    const tx = run([{ program: PROGRAM, accounts }]);
    for (const lookups of [false, true]) {
      const read = readTransaction({ format: 'geyser', payload: toGeyser(tx, lookups) });
      expect(read.calls[0]?.accounts.map(plain)).toEqual(accounts.map(plain));
    }
  });

  test.each(['geyser', 'json'] as const)(
    'throws nothing but MalformedError for 10,000 random mutations (%s)',
    (format) => {
      const encode = format === 'geyser' ? toGeyser : toJson;
      const samples = fc
        .sample(fc.tuple(anyTransaction, fc.boolean()), { seed: SEED, numRuns: 60 })
        .map(([tx, lookups]) => encode(tx, lookups));
      const anyChange = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }));
      fc.assert(
        fc.property(
          fc.constantFrom(...samples),
          fc.array(anyChange, { minLength: 1, maxLength: 5 }),
          (sample, changes) => {
            const payload = Uint8Array.from(sample);
            for (const [at, byte] of changes) payload[at % payload.length] = byte;
            try {
              extractEvents(readTransaction({ format, payload }), PROGRAM);
            } catch (error) {
              expect(error).toBeInstanceOf(MalformedError);
            }
          },
        ),
        { seed: SEED, numRuns: 10_000 },
      );
    },
  );

  test.each([
    ['not JSON', '{'],
    ['null', 'null'],
    [
      'without meta',
      '{"transaction":{"message":{"header":{},"accountKeys":[],"instructions":[]}},"meta":null}',
    ],
  ])('is malformed when it is %s', (_, text) => {
    expect(() => readTransaction({ format: 'json', payload: Buffer.from(text) })).toThrow(MalformedError);
  });

  test('is malformed when an inner instruction claims depth 1 or a missing parent; depths may be left out', () => {
    const json = (inner: object) => {
      const value = JSON.parse(Buffer.from(toJson(run([{ program: PROGRAM }]), false)).toString());
      value.meta.innerInstructions = [inner];
      return readTransaction({ format: 'json', payload: Buffer.from(JSON.stringify(value)) });
    };
    const call = { programIdIndex: 0, accounts: [], data: '' };
    expect(() => json({ index: 0, instructions: [{ ...call, stackHeight: 1 }] })).toThrow('at depth 1');
    expect(() => json({ index: 7, instructions: [call] })).toThrow('inner instructions of 7');
    const untold = json({ index: 0, instructions: [call] });
    expect(untold.calls.map(({ depth }) => depth)).toEqual([1, 2]);
    expect(untold.depthsTold).toBe(false);
    expect(json({ index: 0, instructions: [{ ...call, stackHeight: 2 }] }).depthsTold).toBe(true);
  });

  describe('checked for missing inner calls', () => {
    const emits = ours({ emitCpi: credit(1) });
    const below = theirs({ call: emits });
    const json = (tx: ChainTransaction, inner: unknown) => {
      const value = JSON.parse(Buffer.from(toJson(tx, false)).toString());
      value.meta.innerInstructions = inner;
      return { format: 'json', payload: Buffer.from(JSON.stringify(value)) } as const;
    };
    const geyser = (tx: ChainTransaction, innerInstructionsNone: boolean) => {
      const info = SubscribeUpdateTransactionInfo.decode(toGeyser(tx, false));
      Object.assign(info.meta ?? {}, { innerInstructions: [], innerInstructionsNone });
      return { format: 'geyser', payload: SubscribeUpdateTransactionInfo.encode(info).finish() } as const;
    };
    const withoutCalls = (tx: ChainTransaction) => [
      ...[null, undefined, []].map((inner) => json(tx, inner)),
      ...[true, false].map((none) => geyser(tx, none)),
    ];

    test.each([
      ['of the program', emits],
      ['of another program', below],
    ])('is not read but names its accounts when the inner calls missing are below a call %s', (_, made) => {
      for (const record of withoutCalls(run([made]))) {
        expect(() => readTransaction(record)).toThrow('calls, and 1 are told');
        expect(legibility(record)).toBe('accounts');
        expect(namedAccounts(record)?.map(encodeBase58)).toContain(encodeBase58(POLICY));
      }
    });

    test.each([
      'Ed25519SigVerify111111111111111111111111111',
      'KeccakSecp256k11111111111111111111111111111',
      'Secp256r1SigVerify1111111111111111111111111',
    ])('is not read even if calls of %s, which log no line, make up the number of calls', (precompile) => {
      const proof: Run = { program: decodeKey(precompile) as Uint8Array, precompile: true };
      for (const record of withoutCalls(run([proof, proof, emits])))
        expect(legibility(record)).toBe('accounts');
      for (const record of withoutCalls(run([proof, theirs()]))) expect(legibility(record)).toBe('whole');
    });

    test('is malformed if its logs show more calls of the program than it has, though lines of others are lost', () => {
      const tx = run([theirs(), theirs(), below]);
      const id = encodeBase58(PROGRAM);
      const logs = (tx.logs ?? []).filter((line) => line.includes(id));
      const calls = tx.calls.filter(({ depth }) => depth === 1);
      expect(() => extractEvents({ ...tx, logs, calls }, PROGRAM)).toThrow(MalformedError);
      expect(extractEvents({ ...tx, logs }, PROGRAM).status).toBe('whole');
    });

    test.each([
      ['null', () => null],
      ['empty', () => []],
      ['truncated before those calls', (logs: readonly string[]) => [logs[0] as string, 'Log truncated']],
      [
        'without their invoke lines',
        (logs: readonly string[]) => logs.filter((line) => !line.includes('invoke')),
      ],
    ])('is not read but names its accounts when its logs are %s too', (_, logs) => {
      const tx = run([below]);
      const told = { ...tx, logs: logs(tx.logs ?? []) };
      for (const record of [json(told, null), json(told, undefined), geyser(told, true)]) {
        expect(legibility(record)).toBe('accounts');
        expect(namedAccounts(record)?.map(encodeBase58)).toContain(encodeBase58(POLICY));
      }
      const failed = { ...told, failed: true };
      for (const record of withoutCalls(failed)) expect(legibility(record)).toBe('whole');
    });

    test('is read when it made no inner calls, whatever its logs claim, and when it failed', () => {
      const id = encodeBase58(PROGRAM);
      const alone = theirs(
        { log: `Program ${id} invoke [2]` },
        { log: `x\nProgram ${id} invoke [2]` },
        { print: `Program return: ${id} invoke [2]` },
      );
      for (const record of [...withoutCalls(run([alone])), ...withoutCalls(run([emits], true))])
        expect(legibility(record)).toBe('whole');
    });

    test('is read with all of its inner calls when its logs were cut at any line', () => {
      const tx = run([emits, below]);
      for (const logs of cutAtEveryLine(tx.logs ?? [])) {
        const payload = toGeyser({ ...tx, logs }, false);
        expect(readTransaction({ format: 'geyser', payload }).calls).toHaveLength(tx.calls.length);
      }
    });
  });

  test('of a recorded launch has no event of the program, and all events of the launchpad in order, undecoded', () => {
    const result = fixture('launchpad_pool/launch-transaction.json') as { meta: { logMessages: string[] } };
    const tx = readTransaction({ format: 'json', payload: Buffer.from(JSON.stringify(result)) });
    expect(extractEvents(tx, PROGRAM)).toEqual({
      status: 'whole',
      events: [],
      badEvents: [],
      writable: [],
    });
    const launchpad = decodeKey('LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj') as Uint8Array;
    const printed = result.meta.logMessages.flatMap((line) =>
      line.startsWith('Program data: ') ? [Buffer.from(line.slice('Program data: '.length), 'base64')] : [],
    );
    const named = ['PoolCreateEvent', 'TradeEvent'].map((name) =>
      createHash('sha256').update(`event:${name}`).digest('hex').slice(0, 16),
    );
    expect(printed.map((bytes) => bytes.toString('hex', 0, 8))).toEqual(named);
    // The launchpad emits each event twice: by a call of itself, and then in a line.
    const badEvents = printed
      .flatMap((bytes) => [bytes, bytes])
      .map((bytes, position) => ({ position, reason: 'event: unknown discriminator', bytes }));
    const theirs = extractEvents(tx, launchpad);
    expect(theirs).toMatchObject({ status: 'whole', events: [] });
    expect(theirs.status === 'whole' && theirs.badEvents.map(plain)).toEqual(badEvents.map(plain));
  });
});

/** Buffers and arrays of bytes compare alike. */
function plain(value: unknown): unknown {
  if (typeof value === 'function') return plain(value());
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
}
