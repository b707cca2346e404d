import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  FULL_SCOPE,
  type RequestScope,
  scopeAfter,
} from '../../../ingest/stream/followed-stream/after-refusal.ts';
import { createFollowedCover } from '../../../ingest/stream/followed-stream/cover.ts';
import { createFollowedStatus } from '../../../ingest/stream/followed-stream/followed-status.ts';
import { createReleaseCeiling } from '../../../ingest/stream/followed-stream/release-ceiling.ts';
import { createFollowedSlots } from '../../../ingest/stream/followed-stream/slots.ts';
import { endWords, replayEnd, StreamEndedError } from '../../../ingest/stream/geyser/ended.ts';
import { Slots } from '../../../ingest/stream/slots/machine.ts';
import { account, meta, told } from '../support/beside-updates.ts';

const OK = 0;
const CANCELLED = 1;
const INVALID_ARGUMENT = 3;
const RESOURCE_EXHAUSTED = 8;
const OUT_OF_RANGE = 11;
const INTERNAL = 13;
const UNAVAILABLE = 14;
const DATA_LOSS = 15;
const UNAUTHENTICATED = 16;

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
])('the end of a replay with gRPC code %i and the words "%s" is judged: %s', (code, message, verdict) => {
  expect(replayEnd(ended(code, message))).toBe(verdict);
});

test('the message about a refused token names YELLOWSTONE_X_TOKEN', () => {
  expect(ended(UNAUTHENTICATED, 'No valid auth token').message).toContain('YELLOWSTONE_X_TOKEN');
});

test('the served reason of a stream end contains no words of the provider or the connection', () => {
  expect(endWords(ended(UNAUTHENTICATED, 'No valid auth token'))).toContain('YELLOWSTONE_X_TOKEN');
  expect(endWords(ended(UNAVAILABLE, 'connect ECONNREFUSED 10.0.0.7:443'))).toBe(
    'the provider is not reachable',
  );
  expect(endWords(ended(INTERNAL, 'at node-7.internal'))).toBe('the provider failed');
  for (const [code, words] of [
    [INTERNAL, 'from_slot is not supported'],
    [INTERNAL, 'failed to get replay response'],
    [INVALID_ARGUMENT, 'from_slot 2 is too old'],
  ] as const)
    expect(endWords(ended(code, words))).toBe('the provider refuses the replay from there');
  expect(endWords(ended(CANCELLED, 'no new slot for 30000 ms'))).toBe('no new slot for 30000 ms');
});

test('a refused filter is retried with as many addresses as the words allow, else half; a silent end is tried twice', () => {
  const tried = { addresses: 100, replay: false };
  const cap = (ask: RequestScope, code: number, message: string) =>
    scopeAfter(ask, tried, ended(code, message)).cap;
  const words = 'failed to create filter: Max amount of Pubkeys reached, only 10 allowed';
  expect(cap(FULL_SCOPE, INVALID_ARGUMENT, words)).toBe(10);
  expect(cap(FULL_SCOPE, INVALID_ARGUMENT, 'the limit of accounts is 64')).toBe(64);
  expect(cap(FULL_SCOPE, INVALID_ARGUMENT, 'too many')).toBe(50);
  const once = scopeAfter(FULL_SCOPE, tried, ended(OK, ''));
  expect(once).toMatchObject({ cap: null, silent: 1 });
  expect(cap(once, OK, '')).toBe(50);
  expect(scopeAfter(FULL_SCOPE, tried, ended(UNAVAILABLE, 'gone'))).toEqual(FULL_SCOPE);
  expect(
    scopeAfter(FULL_SCOPE, { addresses: 1, replay: false }, ended(INVALID_ARGUMENT, 'no')),
  ).toMatchObject({
    cap: 0,
  });
});

test('a limit of streams, a quota or a rate limit is not taken for a cap on addresses', () => {
  const tried = { addresses: 100, replay: false };
  const after = (words: string) => scopeAfter(FULL_SCOPE, tried, ended(RESOURCE_EXHAUSTED, words));
  expect(after('Too many connections: the limit of 5 is reached')).toEqual(FULL_SCOPE);
  expect(after('quota exceeded')).toEqual(FULL_SCOPE);
  expect(after('rate limit of 10 requests per second')).toEqual(FULL_SCOPE);
  expect(after('at most 5 addresses in a stream: max 5')).toMatchObject({ cap: 5 });
  expect(after('message larger than max (5000000 vs. 4194304)')).toMatchObject({ cap: 50 });
});

test('a refused request with a replay is retried without the replay first, unless the words are about addresses', () => {
  const tried = { addresses: 100, replay: true };
  expect(scopeAfter(FULL_SCOPE, tried, ended(INTERNAL, 'from_slot is not supported'))).toMatchObject({
    replay: false,
    cap: null,
  });
  expect(scopeAfter(FULL_SCOPE, tried, ended(OK, ''))).toMatchObject({ replay: false, cap: null });
  const silent = scopeAfter(FULL_SCOPE, tried, ended(CANCELLED, 'no new slot for 30000 ms'));
  expect(silent).toMatchObject({ replay: true, cap: null });
  expect(scopeAfter(silent, tried, ended(CANCELLED, 'no new slot for 30000 ms'))).toMatchObject({
    replay: false,
    cap: null,
  });
  expect(scopeAfter(FULL_SCOPE, tried, ended(INVALID_ARGUMENT, 'only 7 allowed'))).toMatchObject({ cap: 7 });
});

test('states are kept until the core releases their slot, and handed out once; what comes later is late', () => {
  const beside = createFollowedSlots('confirmed', null);
  expect(beside.take(account(11n, 1))).toEqual([]);
  expect(beside.reached()).toBeNull();
  for (const update of [meta(11n), told(11n), account(12n, 2)]) beside.take(update);
  expect(beside.reached()).toBe(11n);
  expect(beside.upTo(11n)).toEqual([account(11n, 1)]);
  expect(beside.upTo(11n)).toEqual([]);
  expect(beside.take(account(11n, 3))).toEqual([account(11n, 3)]);
  expect(beside.upTo(12n)).toEqual([account(12n, 2)]);
});

test('a replay from the slot reached repeats nothing, and brings states that differ or were missing', () => {
  const beside = createFollowedSlots('confirmed', null);
  for (const update of [account(11n, 1), meta(11n), told(11n)]) beside.take(update);
  beside.upTo(11n);
  expect(beside.take(account(11n, 1))).toEqual([]);
  expect(beside.take(account(11n, 1, 9))).toEqual([account(11n, 1, 9)]);
  expect(beside.take(account(11n, 2))).toEqual([account(11n, 2)]);
  expect(beside.take(account(11n, 2))).toEqual([]);
  const again = createFollowedSlots('confirmed', 11n);
  expect(again.take(account(11n, 1))).toEqual([]);
  expect(again.take(account(10n, 1))).toEqual([account(10n, 1)]);
});

test('a late state of a slot whose time is not known elsewhere waits for its block meta', () => {
  const beside = createFollowedSlots('confirmed', null, null, () => false);
  beside.upTo(20n);
  expect(beside.take(account(15n, 1))).toEqual([]);
  expect(beside.take(meta(15n))).toEqual([account(15n, 1)]);
  expect(beside.timeOf(15n)).toBe(1_000);
  expect(beside.take(account(15n, 2))).toEqual([account(15n, 2)]);
});

const slotsOf = (outputs: ReturnType<Slots['take']>) =>
  outputs.flatMap((output) => (output.type === 'released' ? [output.slot.slot] : []));

test('states of slots that an earlier run released without the followed stream are late, not kept for the next slot', () => {
  const beside = createFollowedSlots('confirmed', 10n, 14n);
  expect(beside.reached()).toBe(10n);
  expect(beside.take(account(10n, 1))).toEqual([]);
  expect(beside.take(account(12n, 1))).toEqual([account(12n, 1)]);
  expect(beside.take(account(15n, 1))).toEqual([]);
  expect(beside.upTo(15n)).toEqual([account(15n, 1)]);
});

test('slots that are forgotten before the core released them do not count as reached', () => {
  const beside = createFollowedSlots('confirmed', 10n);
  for (const slot of [11n, 12n])
    for (const update of [account(slot, 1), meta(slot), told(slot)]) beside.take(update);
  beside.upTo(11n);
  expect(beside.reached()).toBe(12n);
  beside.forget();
  expect(beside.reached()).toBe(11n);
  expect(beside.upTo(12n)).toEqual([]);
  const unbegun = createFollowedSlots('confirmed', null);
  for (const update of [meta(11n), told(11n)]) unbegun.take(update);
  unbegun.forget();
  expect(unbegun.reached()).toBeNull();
});

test('slots above the release ceiling are held and counted', () => {
  const slots = new Slots('confirmed', 10n);
  slots.hold(10n);
  for (const slot of [11n, 12n]) {
    slots.take(meta(slot));
    expect(slots.take(told(slot))).toEqual([]);
  }
  expect(slots.held).toBe(2);
  expect(slotsOf(slots.hold(11n))).toEqual([11n]);
  expect(slots.held).toBe(1);
  expect(slotsOf(slots.hold(null))).toEqual([12n]);
  expect(slots.held).toBe(0);
});

describe('the core waits for the followed stream', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function stage() {
    const core = { last: 10n as bigint | null, held: 0 };
    const said = { ceiling: null as bigint | null, behind: false, reached: 10n };
    const hold = createReleaseCeiling({
      core,
      reached: () => said.reached,
      onCeiling: (ceiling) => {
        said.ceiling = ceiling;
        if (ceiling === null) core.held = 0;
      },
      onBehind: (behind) => {
        said.behind = behind;
      },
    });
    hold.set(true);
    return { core, said, hold };
  }

  test('without end while no slot is held, however quiet it is', () => {
    const { said } = stage();
    vi.advanceTimersByTime(60_000);
    expect(said).toMatchObject({ ceiling: 10n, behind: false });
  });

  test('for three seconds without progress, then goes on alone until both are at the same slot', () => {
    const { core, said, hold } = stage();
    core.held = 1;
    hold.onCore();
    vi.advanceTimersByTime(2_900);
    said.reached = 11n;
    hold.onReached();
    vi.advanceTimersByTime(2_900);
    expect(said).toMatchObject({ ceiling: 11n, behind: false });
    vi.advanceTimersByTime(200);
    expect(said).toMatchObject({ ceiling: null, behind: true });
    core.last = 20n;
    said.reached = 19n;
    hold.onReached();
    expect(said).toMatchObject({ ceiling: null, behind: true });
    said.reached = 20n;
    hold.onReached();
    expect(said).toMatchObject({ ceiling: 20n, behind: false });
  });

  test('for 150 held slots at most', () => {
    const { core, said, hold } = stage();
    core.held = 150;
    hold.onCore();
    expect(said.behind).toBe(false);
    core.held = 151;
    hold.onCore();
    expect(said).toMatchObject({ ceiling: null, behind: true });
  });

  test('not at all where there is no followed stream', () => {
    const { core, said, hold } = stage();
    hold.set(false);
    core.held = 0;
    hold.onCore();
    expect(said).toMatchObject({ ceiling: null, behind: false });
  });
});

test('the status counts a new address at once, and as read over RPC from the next request on', () => {
  const told: unknown[] = [];
  const standing = createFollowedStatus(({ addresses, overRpc }, rest) =>
    told.push([addresses, overRpc, ...rest]),
  );
  standing.asked(['a', 'b', 'c'], 2);
  standing.added(1);
  standing.asked(['a', 'b', 'c', 'd'], 2);
  expect(told).toEqual([
    [3, 1, 'c'],
    [4, 1, 'c'],
    [4, 2, 'c', 'd'],
  ]);
});

describe('a marker', () => {
  const timeOf = (slot: bigint) => Number(slot) * 10;
  const core = { last: 11n };
  test('says how far the followed stream is while it is behind, and once more when it has caught up', () => {
    let reached: bigint | null = 10n;
    const cover = createFollowedCover({ position: null, core, reached: () => reached, timeOf });
    expect(cover.markerFields(10n, 100)).toEqual({});
    expect(cover.catchUpMarker()).toBeNull();
    expect(cover.markerFields(11n, 110)).toEqual({ followed: { slot: 10n, blockTime: 100 } });
    expect(cover.catchUpMarker()).toBeNull();
    reached = 11n;
    expect(cover.catchUpMarker()).toEqual({ kind: 'marker', slot: 11n, parent: 11n, blockTime: 110 });
    expect(cover.catchUpMarker()).toBeNull();
    expect(cover.brought()).toBe(11n);
    reached = 9n;
    expect(cover.brought()).toBe(9n);
    reached = null;
    expect(cover.brought()).toBe(11n);
    expect(cover.markerFields(12n, 120)).toEqual({});
  });

  test('names the missed slots once, as one interval', () => {
    const cover = createFollowedCover({ position: null, core, reached: () => 20n, timeOf });
    cover.missed(5n, 5n);
    cover.missed(5n, 8n);
    cover.missed(8n, 9n);
    expect(cover.markerFields(20n, 200)).toEqual({ missed: { after: 5n, to: 9n } });
    expect(cover.markerFields(21n, 210)).toEqual({ followed: { slot: 20n, blockTime: 200 } });
  });

  test('of an earlier run is repeated as complete once the followed stream has brought its slot', () => {
    let reached = 7n;
    const position = { slot: 9n, followed: 7n };
    const cover = createFollowedCover({ position, core, reached: () => reached, timeOf });
    expect(cover.catchUpMarker()).toBeNull();
    reached = 9n;
    expect(cover.catchUpMarker()).toEqual({ kind: 'marker', slot: 9n, parent: 9n, blockTime: 90 });
  });
});

test('a replay of the last released slot repeats nothing, and brings as late what that slot lacked', () => {
  const slots = new Slots('confirmed', 10n);
  for (const update of [account(11n, 1), meta(11n), told(11n)]) slots.take(update);
  slots.restart();
  expect(slots.take(account(11n, 1))).toEqual([]);
  expect(slots.take(account(11n, 2))).toMatchObject([{ type: 'late' }]);
  expect(new Slots('confirmed', 11n).take(account(11n, 1))).toEqual([]);
});
