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
  test('are the data lines that it prints while it runs', () => {
    const extract = whole(run([ours({ emit: credit(1) }), ours({ emit: credit(2) })]));
    expect(extract.events.map(({ position }) => position)).toEqual([0, 1]);
    expect(extract.writable).toEqual([encodeBase58(POLICY)]);
  });

  test('are its self-calls that carry one', () => {
    expect(amounts(run([ours({ emitCpi: credit(1) }), ours({ emitCpi: credit(2) })]))).toEqual([1n, 2n]);
  });

  test('of both encodings come in execution order, each once', () => {
    const tx = run([
      ours({ emit: credit(1) }, { emitCpi: credit(2) }, { emit: credit(3) }, { emitCpi: credit(4) }),
      ours({ emitCpi: credit(5) }, { emit: credit(6) }),
    ]);
    expect(amounts(tx)).toEqual([1n, 2n, 3n, 4n, 5n, 6n]);
  });

  test('are found at any depth, around what the program calls meanwhile', () => {
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

  test('are not the same lines of another program, before, inside and behind a call of ours', () => {
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

  test('are not what another program makes its log look like', () => {
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

  test('are not self-calls of another program, nor calls of ours with more accounts or another one', () => {
    const self = selfCall(PROGRAM, credit(90));
    const tx = run([
      theirs({ call: { ...selfCall(OTHER, credit(91)) } }),
      ours({ call: { ...self, accounts: [...(self.accounts ?? []), { address: TOKEN, writable: false }] } }),
      ours({ call: { ...self, accounts: [{ address: TOKEN, writable: false }] } }, { emit: credit(1) }),
      self,
    ]);
    expect(amounts(tx)).toEqual([1n]);
  });

  test('keep their order beside precompiles, which print nothing', () => {
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

  test('are none in a failed transaction, nor in one that only mentions the program', () => {
    expect(whole(run([ours({ emit: credit(1) })], true))).toMatchObject({ events: [], writable: [] });
    const mention: Run = {
      program: OTHER,
      accounts: [{ address: PROGRAM, writable: true }],
      steps: [{ emit: credit(1) }],
    };
    expect(whole(run([mention]))).toMatchObject({ events: [], badEvents: [], writable: [] });
  });

  test('with a discriminator that nobody knows are set aside, and keep their place', () => {
    const extract = whole(
      run([ours({ emit: credit(1) }, { emit: unknown }, { emitCpi: unknown }, { emit: credit(2) })]),
    );
    expect(extract.events.map(({ position }) => position)).toEqual([0, 3]);
    expect(extract.badEvents.map(({ position }) => position)).toEqual([1, 2]);
    expect(Uint8Array.from(extract.badEvents[0]?.bytes ?? [])).toEqual(unknown);
  });

  test('set aside what is no base64', () => {
    const extract = whole(run([ours({ print: 'Program data: a b$' }, { emit: credit(1) })]));
    expect([extract.events.length, extract.badEvents.length]).toEqual([1, 1]);
  });
});
