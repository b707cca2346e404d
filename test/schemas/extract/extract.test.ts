import { describe, expect, test } from 'vitest';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import {
  amounts,
  credit,
  key,
  OTHER,
  ours,
  POLICY,
  PROGRAM,
  TOKEN,
  theirs,
  unknown,
  whole,
} from '../support/program-calls.ts';
import { type Run, run, selfCall } from '../support/run.ts';

describe('events of the program', () => {
  test('are read from the data lines that it prints while it runs', () => {
    const extract = whole(run([ours({ emit: credit(1) }), ours({ emit: credit(2) })]));
    expect(extract.events.map(({ position }) => position)).toEqual([0, 1]);
    expect(extract.writable).toEqual([encodeBase58(POLICY)]);
  });

  test('are read from its self-calls that carry an event', () => {
    expect(amounts(run([ours({ emitCpi: credit(1) }), ours({ emitCpi: credit(2) })]))).toEqual([1n, 2n]);
  });

  test('of both encodings are read once each, in execution order', () => {
    const tx = run([
      ours({ emit: credit(1) }, { emitCpi: credit(2) }, { emit: credit(3) }, { emitCpi: credit(4) }),
      ours({ emitCpi: credit(5) }, { emit: credit(6) }),
    ]);
    expect(amounts(tx)).toEqual([1n, 2n, 3n, 4n, 5n, 6n]);
  });

  test('are found at any call depth, before and after calls that the program makes', () => {
    const inner = ours(
      { emit: credit(2) },
      { call: theirs({ emit: credit(90) }) },
      { emitCpi: credit(3) },
      { emit: credit(4) },
    );
    const tx = run([
      ours({ emit: credit(1) }),
      theirs({ log: 'hello' }, { call: inner }, { emit: credit(91) }),
      ours({ emit: credit(5) }),
    ]);
    expect(amounts(tx)).toEqual([1n, 2n, 3n, 4n, 5n]);
  });

  test('do not include data lines of another program before, inside or after a call of the program', () => {
    const tx = run([
      theirs({ emit: credit(90) }),
      ours(
        { call: theirs({ emit: credit(91) }, { call: theirs({ emit: credit(92) }) }) },
        { emit: credit(1) },
      ),
      theirs({ emit: credit(93) }),
    ]);
    expect(amounts(tx)).toEqual([1n]);
  });

  test('cannot be forged by log messages that look like lines of the runtime', () => {
    const id = encodeBase58(PROGRAM);
    const data = Buffer.from(credit(90)).toString('base64');
    const tx = run([
      theirs(
        { log: `Program ${id} invoke [2]` },
        { log: `x\nProgram ${id} invoke [2]\nProgram data: ${data}` },
        { emit: credit(91) },
        { log: `Program ${id} success` },
        { print: `Program return: ${encodeBase58(OTHER)} ${data}` },
      ),
      ours({ log: `Program ${id} success` }, { log: `Program data: ${data}` }, { emit: credit(1) }),
    ]);
    expect(amounts(tx)).toEqual([1n]);
  });

  test('do not include self-calls of another program, at top level, or with extra or other accounts', () => {
    const self = selfCall(PROGRAM, credit(90));
    const tx = run([
      theirs({ call: { ...selfCall(OTHER, credit(91)) } }),
      ours({ call: { ...self, accounts: [...(self.accounts ?? []), { address: TOKEN, writable: false }] } }),
      ours({ call: { ...self, accounts: [{ address: TOKEN, writable: false }] } }, { emit: credit(1) }),
      self,
    ]);
    expect(amounts(tx)).toEqual([1n]);
  });

  test('keep their order among calls of precompiles, which print no lines', () => {
    const precompile: Run = { program: key(9), precompile: true };
    const tx = run([
      precompile,
      ours({ emit: credit(1) }, { emitCpi: credit(2) }),
      precompile,
      ours({ emitCpi: credit(3) }, { emit: credit(4) }),
      precompile,
    ]);
    expect(amounts(tx)).toEqual([1n, 2n, 3n, 4n]);
  });

  test('do not exist in a failed transaction, or in one that only names the program as an account', () => {
    expect(whole(run([ours({ emit: credit(1) })], true))).toMatchObject({ events: [], writable: [] });
    const mention: Run = {
      program: OTHER,
      accounts: [{ address: PROGRAM, writable: true }],
      steps: [{ emit: credit(1) }],
    };
    expect(whole(run([mention]))).toMatchObject({ events: [], badEvents: [], writable: [] });
  });

  test('with an unknown discriminator are kept as bad events, each with its position', () => {
    const extract = whole(
      run([ours({ emit: credit(1) }, { emit: unknown }, { emitCpi: unknown }, { emit: credit(2) })]),
    );
    expect(extract.events.map(({ position }) => position)).toEqual([0, 3]);
    expect(extract.badEvents.map(({ position }) => position)).toEqual([1, 2]);
    expect(Uint8Array.from(extract.badEvents[0]?.bytes ?? [])).toEqual(unknown);
  });

  test('a data line that is not base64 becomes a bad event', () => {
    const extract = whole(run([ours({ print: 'Program data: a b$' }, { emit: credit(1) })]));
    expect([extract.events.length, extract.badEvents.length]).toEqual([1, 1]);
  });
});
