import { describe, expect, test } from 'vitest';
import { extractEvents } from '../../../schemas/extract/extract.ts';
import { actorOf, summaryOf } from '../../../schemas/program/events.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import type { ChainTransaction } from '../../../schemas/transaction/parts.ts';
import { discriminator, kitEncode } from '../support/kit-codecs.ts';
import {
  amounts,
  credit,
  encoded,
  key,
  OF,
  ours,
  POLICY,
  PROGRAM,
  TOKEN,
  theirs,
  undecided,
  undecoded,
  whole,
} from '../support/program-calls.ts';
import { cutLogs, type Run, run } from '../support/run.ts';

describe('a transaction that is not whole', () => {
  test('is undecoded when an event of a known kind does not decode', () => {
    const cut = credit(1).subarray(0, 60);
    for (const step of [{ emit: cut }, { emitCpi: cut }]) {
      const { reason, accounts } = undecoded(run([theirs(), ours(step)]));
      expect(reason).toContain('CreditNoted');
      expect(accounts).toEqual([encodeBase58(TOKEN), encodeBase58(POLICY)]);
    }
  });

  test('names the accounts of all calls of the program when one of its events does not decode', () => {
    const accounts = [{ address: key(8), writable: true }];
    const cut = credit(1).subarray(0, 60);
    const tx = run([ours({ emit: credit(5) }), { ...ours({ emit: cut }), accounts }, theirs()]);
    expect(undecoded(tx).accounts).toEqual([TOKEN, POLICY, key(8)].map(encodeBase58));
  });

  test('leaves the event undecided when its logs were cut before it', () => {
    const tx = run([theirs({ log: 'x'.repeat(400) }), ours({ emit: credit(1) })]);
    const cut = { ...tx, logs: cutLogs(tx.logs as string[], 700) };
    for (const one of [cut, { ...tx, logs: ['Log truncated'] }])
      expect(undecided(one)).toEqual({
        what: ['CreditNoted'],
        accounts: [encodeBase58(TOKEN), encodeBase58(POLICY)],
      });
  });

  test('counts all accounts of a call as undecided when the IDL names no policy or the mint proves none', () => {
    const [first] = ours().accounts ?? [];
    const short: Run = { ...ours(), accounts: first === undefined ? [] : [first] };
    const ofNone: Run = { ...ours(), data: discriminator('set_protocol_paused') };
    expect(undecided({ ...run([short]), logs: null }).accounts).toEqual([encodeBase58(TOKEN)]);
    expect(undecided({ ...run([ofNone]), logs: null })).toEqual({
      what: ['ProtocolPaused'],
      accounts: [TOKEN, POLICY].map(encodeBase58),
    });
  });

  test('is never whole when the line of its only event was shortened, by any number of characters', () => {
    const tx = run([ours({ emit: credit(1) })]);
    const logs = tx.logs as string[];
    const line = logs.find((one) => one.startsWith('Program data: ')) as string;
    const shortened = (by: number) => ({
      ...tx,
      logs: logs.map((one) => (one === line ? one.slice(0, -by) : one)),
    });
    for (let by = 1; by < line.length - 'Program data: '.length; by += 1)
      expect(extractEvents(shortened(by), PROGRAM).status).not.toBe('whole');
    expect(undecided(shortened(3)).what).toEqual(['CreditNoted']);
  });

  test('gives no event of a kind and policy when one of their lines was shortened', () => {
    const tx = run([ours({ emit: credit(1) }), ours({ emit: credit(2) })]);
    const lines = (tx.logs as string[]).filter((one) => one.startsWith('Program data: '));
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      const logs = (tx.logs as string[]).map((one) => (one === line ? one.slice(0, -3) : one));
      const extract = extractEvents({ ...tx, logs }, PROGRAM);
      expect(extract).toMatchObject({ status: 'derived', events: [], undecided: { what: ['CreditNoted'] } });
    }
  });

  test('is undecided when its logs end before its calls do, even without a truncation mark', () => {
    const tx = run([ours({ emit: credit(1) }), ours({ emit: credit(2) })]);
    const logs = tx.logs as string[];
    const half = logs.length / 2;
    expect(logs[half]).toContain('invoke');
    for (const kept of [half, half + 1]) undecided({ ...tx, logs: logs.slice(0, kept) });
    expect(amounts({ ...tx, logs: logs.slice(0, -1) })).toEqual([1n, 2n]);
  });

  test('is undecided when it has no logs at all and an instruction prints its event', () => {
    for (const logs of [null, []]) undecided({ ...run([ours({ emit: credit(1) })]), logs });
  });

  test('gives the pause as a derived event when its logs end after the equity report that paused', () => {
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
    const pause = encoded('PolicyPaused', { paused: true, by: 2 });
    const both = run([{ ...call(true), steps: [...(call(true).steps ?? []), { emit: pause }] }]);
    const logs = [...(both.logs as string[]), 'Log truncated'];
    expect(whole({ ...both, logs }).events).toHaveLength(2);
    const derived = extractEvents(cut(true), PROGRAM);
    expect(derived).toMatchObject({
      status: 'derived',
      undecided: null,
      events: [
        { event: 'RemoteEquityReported' },
        { event: 'PolicyPaused', fields: { paused: true, by: 'attestation' } },
      ],
    });
  });
});

test('the summed amount of a derived event is undecided when it exceeds 64 bits', () => {
  const most = (1n << 64n) - 1n;
  const noted = (amount: bigint) => ours({ emit: encoded('CreditNoted', { amount }) });
  const silent: Run = { ...ours(), data: discriminator('lock_policy') };
  const cut = (...amounts: bigint[]) => {
    const tx = run([...amounts.map(noted), silent]);
    return extractEvents({ ...tx, logs: [...(tx.logs as string[]), 'Log truncated'] }, PROGRAM);
  };
  expect(cut(most - 5n, 5n)).toMatchObject({
    events: [{ event: 'CreditNoted', fields: { amount: most } }],
    undecided: { what: ['PolicyLocked'] },
  });
  expect(cut(most - 5n, 6n)).toMatchObject({
    events: [{ event: 'CreditNoted', fields: {} }],
    undecided: { what: ['PolicyLocked', 'CreditNoted.amount'] },
  });
});

test('the derived event of two pauses has the actor of the first, and `by` in its summary only if both agree', () => {
  const pause = { authority: ['set_paused', 0], guardian: ['guardian_pause', 1] } as const;
  const call = ([name, by]: (typeof pause)[keyof typeof pause]): Run => ({
    ...ours({ emit: encoded('PolicyPaused', { paused: true, by }) }),
    data: discriminator(name),
  });
  for (const [first, second] of [
    ['authority', 'guardian'],
    ['guardian', 'authority'],
    ['guardian', 'guardian'],
  ] as const) {
    const tx = run([call(pause[first]), call(pause[second]), ours({ emit: credit(1) })]);
    const logs = tx.logs as string[];
    const cut = { ...tx, logs: [...logs.slice(0, (logs.length / 3) * 2), 'Log truncated'] };
    const derived = extractEvents(cut, PROGRAM);
    if (derived.status !== 'derived') throw new Error(derived.status);
    const pauses = derived.events.filter(({ event }) => event === 'PolicyPaused');
    expect(pauses.map(actorOf)).toEqual([first]);
    expect(pauses.map(summaryOf)).toEqual([{ paused: true, ...(first === second ? { by: first } : {}) }]);
  }
});

describe('a transaction with cut logs', () => {
  test("is whole when only another program's line was dropped and all events of the program are there", () => {
    const tx = run([
      theirs({ log: 'x'.repeat(10_001) }),
      ours({ emit: credit(1) }),
      theirs({ emit: credit(90) }),
    ]);
    expect(amounts({ ...tx, logs: cutLogs(tx.logs as string[], 10_000) })).toEqual([1n]);
  });

  test('is whole when every event is a self-call, which stands in the instruction tree', () => {
    const tx = run([theirs({ log: 'x'.repeat(900) }), ours({ emitCpi: credit(1) }, { emitCpi: credit(2) })]);
    expect(amounts({ ...tx, logs: null })).toEqual([1n, 2n]);
    expect(amounts({ ...tx, logs: cutLogs(tx.logs as string[], 300) })).toEqual([1n, 2n]);
  });

  test("is whole when the program's calls emit nothing", () => {
    const silent: Run = { ...ours(), data: discriminator('compound_lp') };
    expect(whole({ ...run([silent]), logs: null }).writable).toEqual([encodeBase58(POLICY)]);
  });

  test('is whole at a limit only with exactly its events in order; at any other limit it is derived', () => {
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
    expect([...seen].sort()).toEqual(['derived', 'whole']);
  });

  test('is at no limit whole with an event line of another program whose invoke line was dropped', () => {
    const pause = kitEncode('ProtocolPaused', { paused: true });
    const tx = run([
      ours({ emit: credit(1) }, { call: theirs({ emit: pause }) }),
      theirs({ emit: pause }),
      ours({ emitCpi: credit(2) }),
    ]);
    const [before] = (tx.logs as string[])
      .join('')
      .split(`Program data: ${Buffer.from(pause).toString('base64')}`);
    for (let limit = 1; limit <= (before as string).length + 200; limit += 1) {
      const cut = { ...tx, logs: cutLogs(tx.logs as string[], limit) };
      const { status } = extractEvents(cut, PROGRAM);
      if (status === 'whole') expect(amounts(cut), `cut at ${limit}`).toEqual([1n, 2n]);
    }
  });
});
