import { describe, expect, test } from 'vitest';
import { encodeBase58 } from '../../schemas/base58.ts';
import { type Extract, extractEvents } from '../../schemas/extract.ts';
import type { ChainTransaction } from '../../schemas/transaction.ts';
import { discriminator, type KitValue, kitEncode } from './support/kit-codecs.ts';
import { cutLogs, type Run, run, type Step, selfCall } from './support/run.ts';

const key = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const [PROGRAM, OTHER, POLICY, TOKEN] = [key(1), key(2), key(3), key(4)] as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const OF = { policy: encodeBase58(POLICY), mint: encodeBase58(key(5)), quoteMint: encodeBase58(key(6)) };

const credit = (amount: number): Uint8Array => kitEncode('CreditNoted', { ...OF, amount: BigInt(amount) });
const encoded = (name: string, fields: KitValue): Uint8Array => kitEncode(name, { ...OF, ...fields });
const unknown = Uint8Array.from([9, 9, 9, 9, 9, 9, 9, 9, ...key(7)]);

/** A call of the program that notes credit. */
const ours = (...steps: Step[]): Run => ({
  program: PROGRAM,
  accounts: [
    { address: TOKEN, writable: false },
    { address: POLICY, writable: true },
  ],
  data: discriminator('note_credit'),
  steps,
});
const theirs = (...steps: Step[]): Run => ({ program: OTHER, steps });

function whole(tx: ChainTransaction): Extract & { status: 'whole' } {
  const extract = extractEvents(tx, PROGRAM);
  if (extract.status !== 'whole') throw new Error(extract.reason);
  return extract;
}

function incomplete(tx: ChainTransaction): Extract & { status: 'incomplete' } {
  const extract = extractEvents(tx, PROGRAM);
  if (extract.status !== 'incomplete') throw new Error('it is whole');
  return extract;
}

const amounts = (tx: ChainTransaction) =>
  whole(tx).events.map(({ event }) => (event.event === 'CreditNoted' ? event.fields.amount : event.event));

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

describe('a transaction is incomplete', () => {
  test('where an event of a known kind does not decode', () => {
    const cut = credit(1).subarray(0, 60);
    for (const step of [{ emit: cut }, { emitCpi: cut }]) {
      const { reason, accounts } = incomplete(run([theirs(), ours(step)]));
      expect(reason).toContain('CreditNoted');
      expect(accounts).toEqual([encodeBase58(TOKEN), encodeBase58(POLICY)]);
    }
  });

  test('where its logs were cut before an event of ours', () => {
    const tx = run([theirs({ log: 'x'.repeat(400) }), ours({ emit: credit(1) })]);
    const cut = { ...tx, logs: cutLogs(tx.logs as string[], 700) };
    expect(incomplete(cut).accounts).toContain(encodeBase58(POLICY));
    expect(incomplete({ ...tx, logs: ['Log truncated'] }).reason).toBe(
      'its logs were cut before an event of the program',
    );
  });

  test('where it has no logs at all, and an instruction of ours prints its events', () => {
    for (const logs of [null, []]) incomplete({ ...run([ours({ emit: credit(1) })]), logs });
  });

  test('where the logs end between a report that paused and the pause', () => {
    const report = { tokenAccount: OF.policy, equity: 5n, notional: 0n, asof: 9n };
    const call = (paused: boolean): Run => ({
      ...ours({ emit: encoded('RemoteEquityReported', { ...report, paused }) }),
      data: discriminator('report_remote_equity'),
    });
    const cut = (paused: boolean): ChainTransaction => {
      const tx = run([call(paused)]);
      return { ...tx, logs: [...(tx.logs as string[]), 'Log truncated'] };
    };
    expect(whole(cut(false)).events).toHaveLength(1);
    incomplete(cut(true));
  });
});

describe('a transaction with cut logs is whole', () => {
  test('where a caller printed too much around calls of ours whose events are all there', () => {
    const tx = run([
      theirs({ log: 'x'.repeat(10_001) }),
      ours({ emit: credit(1) }),
      theirs({ emit: credit(90) }),
    ]);
    expect(amounts({ ...tx, logs: cutLogs(tx.logs as string[], 10_000) })).toEqual([1n]);
  });

  test('where every event is a self-call, which the tree keeps', () => {
    const tx = run([theirs({ log: 'x'.repeat(900) }), ours({ emitCpi: credit(1) }, { emitCpi: credit(2) })]);
    expect(amounts({ ...tx, logs: null })).toEqual([1n, 2n]);
    expect(amounts({ ...tx, logs: cutLogs(tx.logs as string[], 300) })).toEqual([1n, 2n]);
  });

  test('where the calls of ours emit nothing', () => {
    const silent: Run = { ...ours(), data: discriminator('compound_lp') };
    expect(whole({ ...run([silent]), logs: null }).writable).toEqual([encodeBase58(POLICY)]);
  });

  test('at no limit with an event missing, too many or in another place: else it is incomplete', () => {
    const pause = kitEncode('ProtocolPaused', { paused: true });
    const tx = run([
      theirs({ log: 'a'.repeat(120) }),
      ours({ emit: credit(1) }, { call: theirs({ emit: pause }, { emit: credit(90) }) }),
      ours({ emitCpi: credit(2) }),
      theirs({ emit: pause }, { call: ours({ emit: credit(3) }) }, { emit: pause }),
      theirs({ emit: pause }),
      ours({ emit: credit(4) }),
    ]);
    const bytes = (tx.logs as string[]).join('').length;
    const seen = new Set<string>();
    for (let limit = 1; limit <= bytes + 1; limit += 1) {
      const cut = { ...tx, logs: cutLogs(tx.logs as string[], limit) };
      const { status } = extractEvents(cut, PROGRAM);
      seen.add(status);
      if (status === 'whole') expect(amounts(cut), `cut at ${limit}`).toEqual([1n, 2n, 3n, 4n]);
    }
    expect([...seen].sort()).toEqual(['incomplete', 'whole']);
  });
});
