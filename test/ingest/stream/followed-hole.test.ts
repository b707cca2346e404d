import { afterEach, expect, test } from 'vitest';
import { createFollowedSlots } from '../../../ingest/stream/followed-stream/slots.ts';
import { createFollowedStream } from '../../../ingest/stream/followed-stream/stream.ts';
import type { AccountUpdate, Update } from '../../../ingest/stream/geyser/update.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { awaited } from '../../support/awaited.ts';
import { account, meta, told } from '../support/beside-updates.ts';
import { wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';
import { watchedLog } from '../support/watched-log.ts';

const SEED = process.env.SEED ?? 'hole-1';
const HIDDEN = 6n;

let stage: StreamStage | null = null;
afterEach(async () => {
  await stage?.close();
  stage = null;
});

function besideAt(slot: bigint) {
  const beside = createFollowedSlots('confirmed', slot);
  return { beside, take: (...updates: Update[]) => updates.flatMap((update) => beside.take(update)) };
}

test(`slots that only the followed stream leaves out are read over RPC and named as missed in a marker (seed ${SEED})`, async () => {
  stage = await openStreamStage({ seed: SEED, policies: 10, skipChance: 0 });
  const { chain, model, geyser } = stage;
  const records: LogRecord[] = [];
  const { events } = stage.start({ log: watchedLog(records) });
  await stage.live(40);
  await stage.settled();
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  const { slot: tip } = chain.tip();
  const hidden = Array.from({ length: Number(HIDDEN) }, (_, at) => tip + BigInt(at + 1));
  geyser.faults.hide(new Set(hidden), 'followed');
  await stage.live(hidden.length);
  expect(wrongStates(chain, model)).not.toEqual([]);
  // Nothing is written after the hole, so no state comes by itself.
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  await stage.settled();
  const missed = records.flatMap((record) => (record.kind === 'marker' ? (record.missed ?? []) : []));
  expect(missed).toContainEqual({ after: tip, to: tip + HIDDEN });
  expect(events.filter(({ type }) => type === 'disconnected')).toEqual([]);
});

test('a missing slot holds up those that stand on it until there are four; then it counts as a hole', () => {
  const { beside, take } = besideAt(10n);
  for (const slot of [12n, 13n, 14n]) take(account(slot), meta(slot), told(slot));
  expect([beside.reached(), beside.holes()]).toEqual([10n, []]);
  take(meta(15n), told(15n));
  expect(beside.reached()).toBe(15n);
  expect(beside.holes()).toEqual([{ after: 10n, to: 11n }]);
  expect(beside.holes()).toEqual([]);
  expect(beside.upTo(15n).map(({ slot }) => slot)).toEqual([12n, 13n, 14n]);
});

test('out-of-order slots, skipped slots and slots that only a descendant confirms are no holes', () => {
  const { beside, take } = besideAt(10n);
  take(meta(13n, 12n), told(13n));
  expect(beside.reached()).toBe(10n);
  take(meta(12n, 10n));
  expect(beside.reached()).toBe(13n);
  take(meta(20n, 13n), told(20n));
  expect([beside.reached(), beside.holes()]).toEqual([20n, []]);
});

test('a block meta that names slot 0 or a later slot as its parent makes no hole', () => {
  const { beside, take } = besideAt(10n);
  for (const slot of [11n, 12n, 13n, 14n, 15n]) take(meta(slot, slot + 5n), meta(slot, 0n), told(slot));
  expect([beside.reached(), beside.holes()]).toEqual([15n, []]);
});

test('states of a dead slot are dropped, and those of its second version are handed out', () => {
  const { beside, take } = besideAt(10n);
  take(account(11n), meta(11n), told(11n, 'dead'), meta(12n, 10n), told(12n));
  expect(beside.upTo(12n)).toEqual([]);
  take(account(13n), told(13n, 'dead'), account(13n), meta(13n), told(13n), told(13n, 'dead'));
  expect(beside.upTo(13n)).toEqual([account(13n)]);
});

const written = (slot: bigint, writeVersion: bigint, value: number): AccountUpdate => ({
  ...account(slot, 1, value),
  writeVersion,
});
const valuesOf = (states: readonly AccountUpdate[]) => states.map(({ data }) => data[0]);

test.each([
  ['in their order', [5n, 9n]],
  ['in another', [9n, 5n]],
] as const)('of two states in a slot the higher write version is kept, received %s', (_, versions) => {
  const { beside, take } = besideAt(10n);
  for (const version of versions) take(written(11n, version, Number(version)));
  take(meta(11n), told(11n));
  expect(valuesOf(beside.upTo(11n))).toEqual([9]);
});

test('a state of a later stream replaces that of an earlier one, whatever their write versions', () => {
  const { beside, take } = besideAt(10n);
  take(written(11n, 900n, 1));
  beside.begun();
  take(written(11n, 7n, 2), written(11n, 5n, 3), meta(11n), told(11n));
  expect(valuesOf(beside.upTo(11n))).toEqual([2]);
});

test('a later stream that repeats a whole slot is judged by its own write versions, in whatever order they come', () => {
  const { beside, take } = besideAt(10n);
  take(written(11n, 900n, 1), written(11n, 901n, 2), meta(11n), told(11n));
  beside.begun();
  take(written(11n, 8n, 2), written(11n, 7n, 1));
  expect(valuesOf(beside.upTo(11n))).toEqual([2]);
  expect(take(written(11n, 8n, 2), written(11n, 7n, 1))).toEqual([]);
  expect(valuesOf(take(written(11n, 9n, 3)))).toEqual([3]);
});

/** A stream of one followed address, from a provider that the test controls. */
function streaming() {
  const stop = new AbortController();
  interface Handlers {
    onUpdate(update: Update): void;
    onEnd(ended: object): void;
  }
  const asked: ({ fromSlot: bigint | null; name: string } & Handlers)[] = [];
  const readings: string[] = [];
  const of = (how: string) => ({
    [how]: (addresses: readonly string[], slot: bigint) => readings.push(`${how} ${addresses} at ${slot}`),
  });
  const ceilings: (bigint | null)[] = [];
  const beside = createFollowedStream({
    client: {
      renew: () => {},
      subscribe: ({ fromSlot, name }: { fromSlot: bigint | null; name: string }, handlers: Handlers) => {
        asked.push({ fromSlot, name, ...handlers });
        const cancel = () => handlers.onEnd({ message: 'cancelled', code: 1, cancelled: true });
        return { cancel, resubscribe: () => {}, pause: () => {}, resume: () => {} };
      },
    },
    ...{ commitment: 'confirmed', position: { slot: 100n, followed: 100n }, core: { last: 100n, held: 0 } },
    ...{ addresses: () => ['address'], isOfCore: () => false, coreTimeOf: () => 1_000, awayAfterMs: 30_000 },
    ...{ onLate: () => {}, onAtWork: () => {}, onAway: () => {}, onReached: () => {} },
    ...{ onFollowed: () => {}, onUnreadable: () => {} },
    ...of('read'),
    ...of('reread'),
    onCeiling: (ceiling: bigint | null) => ceilings.push(ceiling),
    ...{ logger: createLogger('silent', 'test'), signal: stop.signal },
  } as never);
  return { beside, asked, ceilings, readings, stop };
}

test('no slots are skipped where the first block meta names a later slot as its parent', async () => {
  const { beside, asked, ceilings, stop } = streaming();
  const running = beside.run();
  beside.onCore();
  await awaited(() => expect(asked).toHaveLength(1));
  const [{ fromSlot, name, onUpdate }] = asked as [(typeof asked)[number]];
  expect(fromSlot).toBe(100n);
  for (const update of [meta(101n, 1_000_101n), meta(101n), told(101n)])
    onUpdate({ ...update, filter: name } as Update);
  expect(ceilings.at(-1)).toBe(101n);
  stop.abort();
  await running;
});

test('each followed stream that begins without a replay has all its addresses read over RPC at its first slot', async () => {
  const { beside, asked, readings, stop } = streaming();
  const running = beside.run();
  beside.onCore();
  const begins = (at: number) => awaited(() => expect(asked).toHaveLength(at + 1));
  for (const [at, slot] of [200n, 300n, 400n].entries()) {
    await begins(at);
    const { name, onUpdate, onEnd } = asked[at] as (typeof asked)[number];
    for (const update of [meta(slot), told(slot)]) onUpdate({ ...update, filter: name } as Update);
    onEnd({ message: 'the provider failed', code: 13, cancelled: false });
  }
  expect(readings).toEqual([200n, 300n, 400n].map((slot) => `reread address at ${slot}`));
  stop.abort();
  await running;
});

test('write versions of a stream are not compared with those of the stream that it replaces', async () => {
  const { beside, asked, stop } = streaming();
  const running = beside.run();
  beside.onCore();
  for (const [at, version] of [900n, 5n].entries()) {
    await awaited(() => expect(asked).toHaveLength(at + 1));
    const { name, onUpdate, onEnd } = asked[at] as (typeof asked)[number];
    for (const update of [meta(100n), written(101n, version, at)])
      onUpdate({ ...update, filter: name } as Update);
    onEnd({ message: 'the provider failed', code: 13, cancelled: false });
  }
  expect(valuesOf(beside.upTo(101n))).toEqual([1]);
  stop.abort();
  await running;
});
