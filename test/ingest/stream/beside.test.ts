import { expect, test } from 'vitest';
import { ASK_ALL, type Ask, askAfter } from '../../../ingest/stream/beside/cap.ts';
import { createBesideSlots } from '../../../ingest/stream/beside/slots.ts';
import { endWords, replayEnd, StreamEndedError } from '../../../ingest/stream/geyser/ended.ts';
import type { AccountUpdate, Update } from '../../../ingest/stream/geyser/update.ts';
import { Slots } from '../../../ingest/stream/slots/machine.ts';

const OK = 0;
const CANCELLED = 1;
const INVALID_ARGUMENT = 3;
const OUT_OF_RANGE = 11;
const INTERNAL = 13;
const UNAVAILABLE = 14;
const DATA_LOSS = 15;
const UNAUTHENTICATED = 16;

const account = (slot: bigint, name: number, value = 0): AccountUpdate => ({
  type: 'account',
  slot,
  address: new Uint8Array(32).fill(name),
  owner: new Uint8Array(32),
  lamports: 1n,
  data: Uint8Array.of(value),
  writeVersion: 1n,
  signature: null,
});
const meta = (slot: bigint, parent = slot - 1n): Update => ({
  type: 'blockMeta',
  slot,
  parent,
  blockTime: 1_000,
});
const confirmed = (slot: bigint): Update => ({ type: 'slot', slot, parent: null, state: 'confirmed' });

const ended = (code: number, message: string) => new StreamEndedError(code, message);

test.each([
  [OUT_OF_RANGE, 'broadcast from 2 is not available, last available: 1200', 'gone'],
  [INTERNAL, 'from_slot is not supported', 'gone'],
  [INTERNAL, 'broadcast from 2 is not available', 'gone'],
  [INVALID_ARGUMENT, 'from_slot 2 is too old', 'gone'],
  [DATA_LOSS, 'whatever', 'gone'],
  [INTERNAL, 'failed to get replay response', 'perhaps'],
  [OK, '', 'perhaps'],
  [CANCELLED, 'no new slot for 30000 ms', 'perhaps'],
  [UNAVAILABLE, 'connection refused', 'other'],
  [UNAUTHENTICATED, 'No valid auth token', 'other'],
])('a replay that ends with %i "%s" is %s', (code, message, verdict) => {
  expect(replayEnd(ended(code, message))).toBe(verdict);
});

test('a token that is refused names the variable', () => {
  expect(ended(UNAUTHENTICATED, 'No valid auth token').message).toContain('YELLOWSTONE_X_TOKEN');
});

test('what is served of an end holds nothing of what the provider or the connection said', () => {
  expect(endWords(ended(UNAUTHENTICATED, 'No valid auth token'))).toContain('YELLOWSTONE_X_TOKEN');
  expect(endWords(ended(UNAVAILABLE, 'connect ECONNREFUSED 10.0.0.7:443'))).toBe(
    'the provider is not reachable',
  );
  expect(endWords(ended(INTERNAL, 'at node-7.internal'))).toBe('the provider failed');
  expect(endWords(ended(CANCELLED, 'no new slot for 30000 ms'))).toBe('no new slot for 30000 ms');
});

test('a refused filter is asked for as many as the words name, else for half; silence is tried twice', () => {
  const tried = { addresses: 100, replay: false };
  const cap = (ask: Ask, code: number, message: string) => askAfter(ask, tried, ended(code, message)).cap;
  const words = 'failed to create filter: Max amount of Pubkeys reached, only 10 allowed';
  expect(cap(ASK_ALL, INVALID_ARGUMENT, words)).toBe(10);
  expect(cap(ASK_ALL, INVALID_ARGUMENT, 'the limit of accounts is 64')).toBe(64);
  expect(cap(ASK_ALL, INVALID_ARGUMENT, 'too many')).toBe(50);
  const once = askAfter(ASK_ALL, tried, ended(OK, ''));
  expect(once).toMatchObject({ cap: null, silent: 1 });
  expect(cap(once, OK, '')).toBe(50);
  expect(askAfter(ASK_ALL, tried, ended(UNAVAILABLE, 'gone'))).toEqual(ASK_ALL);
  expect(askAfter(ASK_ALL, { addresses: 1, replay: false }, ended(INVALID_ARGUMENT, 'no'))).toMatchObject({
    cap: 0,
  });
});

test('where a replay was asked for it is left out first, unless the words are about addresses', () => {
  const tried = { addresses: 100, replay: true };
  expect(askAfter(ASK_ALL, tried, ended(INTERNAL, 'from_slot is not supported'))).toMatchObject({
    replay: false,
    cap: null,
  });
  expect(askAfter(ASK_ALL, tried, ended(OK, ''))).toMatchObject({ replay: false, cap: null });
  const silent = askAfter(ASK_ALL, tried, ended(CANCELLED, 'no new slot for 30000 ms'));
  expect(silent).toMatchObject({ replay: true, cap: null });
  expect(askAfter(silent, tried, ended(CANCELLED, 'no new slot for 30000 ms'))).toMatchObject({
    replay: false,
    cap: null,
  });
  expect(askAfter(ASK_ALL, tried, ended(INVALID_ARGUMENT, 'only 7 allowed'))).toMatchObject({ cap: 7 });
});

test('states are kept until the core releases their slot; what comes for it later is late, once', () => {
  const beside = createBesideSlots('confirmed', null);
  expect(beside.take(account(11n, 1))).toEqual([]);
  expect(beside.reached()).toBeNull();
  for (const update of [meta(11n), confirmed(11n), account(12n, 2)]) beside.take(update);
  expect(beside.reached()).toBe(11n);
  expect(beside.upTo(11n)).toEqual([account(11n, 1)]);
  expect(beside.upTo(11n)).toEqual([]);
  expect(beside.take(account(11n, 3))).toEqual([account(11n, 3)]);
  expect(beside.upTo(12n)).toEqual([account(12n, 2)]);
});

test('a replay from where it came to repeats nothing, and brings what differs or was not there', () => {
  const beside = createBesideSlots('confirmed', null);
  for (const update of [account(11n, 1), meta(11n), confirmed(11n)]) beside.take(update);
  beside.upTo(11n);
  expect(beside.take(account(11n, 1))).toEqual([]);
  expect(beside.take(account(11n, 1, 9))).toEqual([account(11n, 1, 9)]);
  expect(beside.take(account(11n, 2))).toEqual([account(11n, 2)]);
  expect(beside.take(account(11n, 2))).toEqual([]);
  const again = createBesideSlots('confirmed', 11n);
  expect(again.take(account(11n, 1))).toEqual([]);
  expect(again.take(account(10n, 1))).toEqual([account(10n, 1)]);
});

test('a state that comes late for a slot that nobody else dates waits for its block meta', () => {
  const beside = createBesideSlots('confirmed', null, () => false);
  beside.upTo(20n);
  expect(beside.take(account(15n, 1))).toEqual([]);
  expect(beside.take(meta(15n))).toEqual([account(15n, 1)]);
  expect(beside.timeOf(15n)).toBe(1_000);
  expect(beside.take(account(15n, 2))).toEqual([account(15n, 2)]);
});

test('the core waits for the stream beside it, and not for ever', () => {
  const slots = new Slots('confirmed', 10n);
  expect(slots.hold(10n)).toEqual([]);
  const slotsOf = (outputs: ReturnType<Slots['take']>) =>
    outputs.flatMap((output) => (output.type === 'released' ? [output.slot.slot] : []));
  for (const slot of [11n, 12n]) {
    slots.take(meta(slot));
    expect(slots.take(confirmed(slot))).toEqual([]);
  }
  expect(slotsOf(slots.hold(11n))).toEqual([11n]);
  for (let slot = 13n; slot < 52n; slot += 1n) {
    slots.take(meta(slot));
    expect(slots.take(confirmed(slot))).toEqual([]);
  }
  slots.take(meta(52n));
  expect(slotsOf(slots.take(confirmed(52n)))).toEqual([12n]);
  expect(slotsOf(slots.hold(null))).toHaveLength(40);
});

test('it waits for as many blocks where most slots between them were skipped', () => {
  const slots = new Slots('confirmed', 1_000n);
  slots.hold(1_000n);
  for (let slot = 2_000n; slot <= 41_000n; slot += 1_000n) {
    slots.take(meta(slot, slot - 1_000n));
    expect(slots.take(confirmed(slot))).toEqual([]);
  }
  slots.take(meta(42_000n, 41_000n));
  expect(slots.take(confirmed(42_000n))).toMatchObject([{ type: 'released', slot: { slot: 2_000n } }]);
});

test('a replay of the slot released last repeats nothing, and brings what came behind its end', () => {
  const slots = new Slots('confirmed', 10n);
  for (const update of [account(11n, 1), meta(11n), confirmed(11n)]) slots.take(update);
  slots.restart();
  expect(slots.take(account(11n, 1))).toEqual([]);
  expect(slots.take(account(11n, 2))).toMatchObject([{ type: 'late' }]);
  expect(new Slots('confirmed', 11n).take(account(11n, 1))).toEqual([]);
});
