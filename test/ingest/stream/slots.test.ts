import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TransactionUpdate, Update } from '../../../ingest/stream/geyser/update.ts';
import { Slots, type SlotsOutput } from '../../../ingest/stream/slots/machine.ts';
import { createSeenTransactions } from '../../../ingest/stream/slots/seen-transactions.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);

const account = (slot: bigint, name: number, writeVersion: bigint): Update => ({
  type: 'account',
  slot,
  address: new Uint8Array(32).fill(name),
  owner: new Uint8Array(32),
  lamports: 1n,
  data: Uint8Array.of(Number(writeVersion & 0xffn)),
  writeVersion,
  signature: null,
});
const meta = (slot: bigint, parent: bigint, blockhash?: string): Update => ({
  type: 'blockMeta',
  slot,
  parent,
  blockTime: 1_000 + Number(slot),
  ...(blockhash === undefined ? {} : { blockhash }),
});
const status = (slot: bigint, state: 'processed' | 'confirmed' | 'finalized' | 'dead'): Update => ({
  type: 'slot',
  slot,
  parent: null,
  state,
});

const transaction = (slot: bigint, name: number, payload: number): TransactionUpdate => ({
  type: 'transaction',
  slot,
  signature: new Uint8Array(64).fill(name),
  index: name,
  payload: new Uint8Array(20).fill(payload),
});
/** The output transactions, by name and payload, and whether each is disputed. */
const transactionsOf = (outputs: readonly SlotsOutput[]) =>
  outputs.flatMap((output) => {
    const updates =
      output.type === 'released' ? output.slot.transactions : 'update' in output ? [output.update] : [];
    return updates.flatMap((update) =>
      update.type === 'transaction'
        ? [`${update.index} of ${update.payload[0]}${update.disputed === true ? ', disputed' : ''}`]
        : [],
    );
  });

const slotsOf = (outputs: readonly SlotsOutput[]) =>
  outputs.flatMap((output) => (output.type === 'released' ? [output.slot.slot] : []));

function feed(slots: Slots, updates: readonly Update[]): SlotsOutput[] {
  return updates.flatMap((update) => slots.take(update));
}

describe('a slot', () => {
  test('is released once its block meta is here and it is confirmed, whichever comes last', () => {
    for (const order of [
      [meta(11n, 10n), status(11n, 'confirmed')],
      [status(11n, 'confirmed'), meta(11n, 10n)],
    ]) {
      expect(slotsOf(feed(new Slots('confirmed', 10n), order))).toEqual([11n]);
    }
  });

  test('is confirmed by a confirmed descendant', () => {
    const slots = new Slots('confirmed', 10n);
    const outputs = feed(slots, [meta(11n, 10n), meta(13n, 11n), status(13n, 'confirmed')]);
    expect(slotsOf(outputs)).toEqual([11n, 13n]);
  });

  test('waits for finalized where finalized is asked for', () => {
    const slots = new Slots('finalized', 10n);
    expect(feed(slots, [meta(11n, 10n), status(11n, 'confirmed')])).toEqual([]);
    expect(slotsOf(feed(slots, [status(11n, 'finalized')]))).toEqual([11n]);
  });

  test('of a fork that lost is dropped', () => {
    const slots = new Slots('confirmed', 10n);
    const fork = [account(11n, 1, 1n), meta(11n, 10n), status(11n, 'processed')];
    const outputs = feed(slots, [...fork, meta(12n, 10n), status(12n, 'confirmed'), status(11n, 'dead')]);
    expect(slotsOf(outputs)).toEqual([12n]);
    expect(slots.overflowing).toBe(false);
  });

  test('waits for its parent, and the slots in between are reported as missing', () => {
    const slots = new Slots('confirmed', 10n);
    expect(feed(slots, [meta(14n, 13n), status(14n, 'confirmed')])).toEqual([]);
    expect(slots.missing()).toEqual({ fromSlot: 11n, toSlot: 13n, toTime: 1_014, waiting: 1 });
    expect(slotsOf(slots.skipTo(13n))).toEqual([14n]);
  });

  test('that is the first of a stream without a replay is not released, for it may be incomplete', () => {
    const slots = new Slots('confirmed', null);
    const outputs = feed(slots, [
      meta(50n, 49n),
      status(50n, 'confirmed'),
      meta(51n, 50n),
      status(51n, 'confirmed'),
    ]);
    expect(slotsOf(outputs)).toEqual([51n]);
    expect(slots.timeOf(50n)).toBe(1_050);
  });

  test('that was released passes late updates on at once, with its block time', () => {
    const slots = new Slots('confirmed', 10n);
    feed(slots, [meta(11n, 10n), status(11n, 'confirmed')]);
    const update = account(11n, 3, 9n);
    expect(slots.take(update)).toEqual([{ type: 'late', update, blockTime: 1_011 }]);
  });

  test('with a second blockhash is reported once as made twice, before its release or after it', () => {
    const slots = new Slots('confirmed', 10n);
    const made = [meta(11n, 10n, 'one'), meta(11n, 10n, 'one'), meta(11n, 10n, 'two'), meta(11n, 10n, 'one')];
    expect(feed(slots, made)).toEqual([{ type: 'madeTwice', slot: 11n }]);
    expect(slotsOf(feed(slots, [status(11n, 'confirmed'), meta(12n, 11n, 'three')]))).toEqual([11n]);
    expect(slotsOf(feed(slots, [status(12n, 'confirmed')]))).toEqual([12n]);
    slots.restart();
    expect(feed(slots, [meta(11n, 10n, 'two'), meta(12n, 11n, 'four'), meta(12n, 11n)])).toEqual([
      { type: 'madeTwice', slot: 12n },
    ]);
  });

  test('hands out the last of two differing versions of a transaction as disputed; a mere repeat is not', () => {
    const slots = new Slots('confirmed', 10n);
    const told = [
      ...[transaction(11n, 1, 1), transaction(11n, 2, 1), transaction(11n, 1, 2), transaction(11n, 2, 1)],
      ...[transaction(11n, 1, 2), meta(11n, 10n), status(11n, 'confirmed')],
    ];
    expect(transactionsOf(feed(slots, told))).toEqual(['1 of 2, disputed', '2 of 1']);
  });

  test('that was released passes on only new or differing transactions, each once', () => {
    const slots = new Slots('confirmed', 10n);
    const whole = (slot: bigint) => [
      ...[transaction(slot, 1, 1), transaction(slot, 2, 1), meta(slot, slot - 1n), status(slot, 'confirmed')],
    ];
    expect(transactionsOf(feed(slots, whole(11n)))).toEqual(['1 of 1', '2 of 1']);
    const again = [...whole(11n), transaction(11n, 1, 2), transaction(11n, 3, 1), ...whole(11n)];
    expect(transactionsOf(feed(slots, again))).toEqual(['1 of 2, disputed', '3 of 1']);
    feed(slots, whole(12n));
    slots.restart();
    // A replay that reaches back further than requested.
    expect(transactionsOf(feed(slots, [...again, ...whole(12n)]))).toEqual([]);
    expect(transactionsOf(feed(slots, [transaction(11n, 2, 3), transaction(11n, 2, 3)]))).toEqual([
      '2 of 3, disputed',
    ]);
  });

  test('that is no longer remembered has no transaction marked as disputed when it is replayed', () => {
    const slots = new Slots('confirmed', 10n);
    expect(transactionsOf(feed(slots, [transaction(9n, 1, 1), transaction(10n, 1, 1)]))).toEqual(['1 of 1']);
    const told = createSeenTransactions(2);
    const taken = [1, 2, 3, 1].map((name) => told.take(transaction(5n, name, name === 1 ? 7 : 8)));
    expect(taken).toEqual(['new', 'new', 'new', 'new']);
    expect([told.take(transaction(5n, 3, 8)), told.take(transaction(5n, 3, 9))]).toEqual([
      'again',
      'otherwise',
    ]);
  });

  test('keeps the newest write_version of an account', () => {
    const slots = new Slots('confirmed', 10n);
    const outputs = feed(slots, [
      account(11n, 1, 7n),
      account(11n, 1, 9n),
      account(11n, 1, 8n),
      meta(11n, 10n),
      status(11n, 'confirmed'),
    ]);
    const [released] = outputs;
    expect(released?.type === 'released' && released.slot.accounts.map((one) => one.writeVersion)).toEqual([
      9n,
    ]);
  });
});

test('more pending bytes than allowed are an overflow, which a restart clears', () => {
  const slots = new Slots('confirmed', 10n, { maxPendingBytes: 2_000 });
  for (let name = 0; name < 10; name += 1) slots.take(account(12n, name, 1n));
  expect(slots.overflowing).toBe(true);
  slots.restart();
  expect(slots.overflowing).toBe(false);
  expect(slots.last).toBe(10n);
});

test(`updates in any order, repeated and with forks, release the same slots (seed ${SEED})`, () => {
  const chain = fc.array(fc.record({ skipped: fc.nat(2), fork: fc.boolean(), accounts: fc.nat(3) }), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(chain, fc.infiniteStream(fc.nat(1_000_000)), (plan, noise) => {
      const updates: Update[] = [];
      const expected: { slot: bigint; accounts: number }[] = [];
      let parent = 10n;
      for (const { skipped, fork, accounts } of plan) {
        const slot = parent + 2n + BigInt(skipped);
        if (fork)
          updates.push(account(slot - 1n, 99, 1n), meta(slot - 1n, parent), status(slot - 1n, 'processed'));
        for (let name = 0; name < accounts; name += 1) updates.push(account(slot, name, BigInt(name)));
        updates.push(status(slot, 'processed'));
        expected.push({ slot, accounts });
        parent = slot;
      }
      // A slot's content comes before its meta and status; the order among slots is free, and all may come twice.
      const records = [...updates, ...updates].map((update) => ({
        update,
        at: noise.next().value as number,
      }));
      records.sort((a, b) => a.at - b.at);
      let before = 10n;
      const ends = expected.flatMap(({ slot }) => {
        const pair = [meta(slot, before), status(slot, 'confirmed')];
        before = slot;
        return pair;
      });
      const closing = [...ends, ...ends].map((update) => ({ update, at: noise.next().value as number }));
      closing.sort((a, b) => a.at - b.at);
      const slots = new Slots('confirmed', 10n);
      const outputs = feed(
        slots,
        [...records, ...closing].map(({ update }) => update),
      );
      const released = outputs.flatMap((output) =>
        output.type === 'released' ? [{ slot: output.slot.slot, accounts: output.slot.accounts.length }] : [],
      );
      expect(released).toEqual(expected);
    }),
    { seed: SEED, numRuns: 300 },
  );
});
