import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createEventWindow, identityOf, missedSince } from '../../../api/stream/event-window.ts';
import type { ChainPosition } from '../../../api/stream/position.ts';
import type { Store } from '../../../clickhouse/client.ts';
import type { EventIdentity } from '../../../clickhouse/queries/activity/stream-events.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import { FIRST_DERIVED_POSITION } from '../../../schemas/extract/groups.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import {
  batchOf,
  key,
  logOf,
  marker,
  PROGRAM,
  rawSignature,
  routed,
  transaction,
} from '../../ingest/materialise/support/records.ts';
import { registering } from '../../ingest/materialise/support/registering.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { NOW, startApi, type TestApi } from '../support/api.ts';
import { type Listener, listenTo } from './support/listen.ts';

const SEED = Number(process.env.SEED ?? 20_261_126);
const PATH = '/stream/activity';
const MINE = `${PATH}?mint=${key('mint')}`;
const LIST = `/coins/${key('mint')}/activity`;

let store: Store;
let api: TestApi;
let apply: ReturnType<typeof createMaterialiser>;
const offsets = { accounts: 0n, transactions: 0n };
const open: Listener[] = [];

beforeAll(async () => {
  store = await embeddedDatabase();
  apply = createMaterialiser({ store, programId: PROGRAM });
  // The clock stands: it is never time to send the gap once more.
  api = await startApi(store, { streamClock: () => 0 });
  await reach(1_000n);
});
afterEach(async () => {
  for (const listener of open.splice(0)) {
    listener.close();
    await listener.ended;
  }
});
afterAll(async () => {
  await api.close();
  await store.close();
});

async function take(topic: keyof typeof offsets, ...records: LogRecord[]): Promise<void> {
  await apply(batchOf(topic, logOf(records, offsets[topic])));
  offsets[topic] += BigInt(records.length);
  api.at(NOW);
}
/** Applies a slot with these records, and its marker after them. */
async function reach(slot: bigint, ...records: LogRecord[]): Promise<void> {
  await take('transactions', ...records, marker(slot));
  await take('accounts', marker(slot));
}
async function listen(path: string, lastId?: string): Promise<Listener> {
  const listener = await listenTo(api.url + path, lastId);
  open.push(listener);
  await listener.firstId();
  return listener;
}
/** What was sent: kinds of events, whether derived, and for a gap the route that it says to read. */
const told = ({ heard }: Listener) =>
  heard.map(({ event, data }) =>
    event === 'gap' ? data.read : data.derived === true ? `${data.kind}, derived` : data.kind,
  );

test('a derived event that was sent becomes a gap once its transaction is read whole; its replacement is not sent', async () => {
  const all = await listen(PATH);
  const began = all.lastId();
  const mine = await listen(MINE);
  const ofKind = await listen(`${MINE}&kind=Routed`);
  const ofOther = await listen(`${PATH}?mint=${key('other')}`);
  await reach(1_001n, registering(1_001n, ['a', 'b'], 0));
  await Promise.all([all.until(1), mine.until(1)]);
  const next = transaction('next', 1_002n, [routed(7n), routed(8n, 'other')]);
  await reach(1_002n, registering(1_001n, ['a', 'b'], 2), next);
  await Promise.all([all.until(4), mine.until(3), ofKind.until(2), ofOther.until(1)]);
  expect(told(all)).toEqual(['VenueRegistered, derived', LIST, 'Routed', 'Routed']);
  expect(told(mine)).toEqual(['VenueRegistered, derived', LIST, 'Routed']);
  expect(told(ofKind)).toEqual([LIST, 'Routed']);
  expect(told(ofOther)).toEqual(['Routed']);

  const [derived, gap, first] = all.heard;
  const back = async (lastId: string | undefined, count: number) => {
    const listener = await listen(PATH, lastId);
    await listener.until(count);
    return told(listener);
  };
  // A client that was not sent the derived event yet is sent what stands now.
  expect(await back(began, 4)).toEqual(['VenueRegistered', 'VenueRegistered', 'Routed', 'Routed']);
  expect(await back(derived?.id, 1)).toEqual(['/coins/:mint/activity']);
  expect(await back(gap?.id, 2)).toEqual(['Routed', 'Routed']);
  expect(await back(first?.id, 1)).toEqual(['Routed']);
});

test('a returning client gets the gap also if as many events replace the derived ones it was sent', async () => {
  const listener = await listen(MINE);
  await reach(1_011n, registering(1_011n, ['c'], 0, 'one'));
  await listener.until(1);
  const id = listener.lastId();
  listener.close();
  await reach(1_012n, registering(1_011n, ['c'], 1, 'one'));
  const back = await listen(MINE, id);
  await back.until(1);
  expect([told(listener), told(back)]).toEqual([['VenueRegistered, derived'], [LIST]]);
});

test('an event that was sent and is then struck becomes a gap, for listeners and returning clients', async () => {
  const listener = await listen(MINE);
  await reach(1_021n, transaction('ghost', 1_021n, [routed(9n)]));
  await listener.until(1);
  const ghost = [{ signature: encodeBase58(rawSignature('ghost')), slot: 1_021n }];
  const struck = (await storedState(store).verification?.tracesOf(ghost)) ?? [];
  await take('transactions', { kind: 'verified', slot: 1_021n, struck });
  await listener.until(2);
  await reach(1_022n, transaction('stands', 1_022n, [routed(9n)]));
  await listener.until(3);
  expect(told(listener)).toEqual(['Routed', LIST, 'Routed']);
  const back = await listen(MINE, listener.heard[0]?.id);
  await back.until(1);
  expect(told(back)).toEqual([LIST]);
});

test('a client cut off at any point that reads the list at each gap has every standing event once', () => {
  const NOTHING = { closedGaps: 0, late: 0 };
  const BEGIN: ChainPosition = { slot: 100n, ordinal: 0, recent: 0, derived: 0, ...NOTHING };
  const one = fc.record({
    what: fc.constantFrom('whole', 'cut', 'late', 'read again', 'struck'),
    many: fc.integer({ min: 1, max: 3 }),
    more: fc.nat({ max: 2 }),
    of: fc.nat({ max: 9 }),
  });
  const look = fc.record({
    step: fc.constantFrom(1, 30, 64, 65, 100),
    happened: fc.array(one, { maxLength: 4 }),
  });
  const looks = fc.array(look, { minLength: 2, maxLength: 8 });
  const rowsOf = (slot: number, name: number, first: number, many: number): EventIdentity[] =>
    Array.from({ length: many }, (_, at) => ({
      ...{ slot: String(slot), signature: `s${String(name).padStart(4, '0')}` },
      ...{ position: first + at, mint: `m${name % 2}` },
    }));
  const byChain = (a: EventIdentity, b: EventIdentity) =>
    Number(a.slot) - Number(b.slot) || a.signature.localeCompare(b.signature) || a.position - b.position;
  type Heard = { position: ChainPosition } & (
    | { identity: string }
    /** What its list holds that is not sent after it. */
    | { mint: string | null; list: string[] }
  );
  /** What a client has after it was sent all this. */
  const heldAfter = (heard: readonly Heard[], mintOf: ReadonlyMap<string, string>): string[] => {
    let has: string[] = [];
    for (const each of heard)
      has =
        'identity' in each
          ? [...has, each.identity]
          : [
              ...has.filter((identity) => each.mint !== null && mintOf.get(identity) !== each.mint),
              ...each.list,
            ];
    return has.sort();
  };

  fc.assert(
    fc.property(looks, fc.boolean(), (drawn, strikes) => {
      let window = createEventWindow(100n, NOTHING, []);
      let all: EventIdentity[] = [];
      let names = 0;
      let cut: { slot: number; name: number; many: number }[] = [];
      const heard: Heard[] = [];
      const mintOf = new Map<string, string>();
      let [slot, late] = [100, 0];
      const behind = (after: bigint) => all.filter((row) => BigInt(row.slot) > after);
      for (const { step, happened } of drawn) {
        slot += step;
        const before = late;
        const changed = new Set<string>();
        /** A change further behind than the window is only counted. */
        const change = ({ slot, mint }: EventIdentity) => {
          if (BigInt(slot) > window.readFrom()) changed.add(mint);
          else late += 1;
        };
        for (const { what, many, more, of } of happened) {
          names += 1;
          if (what === 'whole') all = [...all, ...rowsOf(slot, names, 0, many)];
          if (what === 'late') all = [...all, ...rowsOf(slot - 1 - (of % 4), names, 0, many)];
          if (what === 'cut') {
            cut.push({ slot, name: names, many });
            all = [...all, ...rowsOf(slot, names, FIRST_DERIVED_POSITION, many)];
          }
          const signatures =
            strikes && what === 'struck' ? [...new Set(all.map(({ signature }) => signature))] : [];
          const struck = all.find(({ signature }) => signature === signatures[of % signatures.length]);
          if (struck !== undefined) {
            change(struck);
            all = all.filter(({ signature }) => signature !== struck.signature);
            cut = cut.filter(({ name }) => !struck.signature.endsWith(String(name).padStart(4, '0')));
          }
          const [again] = what === 'read again' ? cut.splice(of % Math.max(1, cut.length), 1) : [];
          if (again === undefined) continue;
          const [derived] = rowsOf(again.slot, again.name, 0, 1) as [EventIdentity];
          change(derived);
          all = [
            ...all.filter(({ signature }) => signature !== derived.signature),
            ...rowsOf(again.slot, again.name, 0, again.many + more),
          ];
        }
        all.sort(byChain);
        for (const row of all) mintOf.set(identityOf(row), row.mint);
        const moved = window.movedTo(BigInt(slot), { closedGaps: 0, late }, behind(window.readFrom()));
        window = moved.window;
        const fresh = new Set(moved.fresh.map(({ identity }) => identity));
        const gaps = moved.takenBack.map(({ mint, position }) => {
          const list = all.filter((row) => row.mint === mint && !fresh.has(identityOf(row))).map(identityOf);
          return { mint, position, list };
        });
        expect(gaps.filter(({ mint }) => !changed.has(mint))).toEqual([]);
        heard.push(...gaps, ...moved.fresh);
        const stands = all.map(identityOf).sort();
        if (late !== before) heard.push({ mint: null, position: window.tip(), list: stands });
        expect(heldAfter(heard, mintOf)).toEqual(stands);
        // With struck events the counts cannot tell, where as many came late or the client was cut off among them.
        if (strikes) continue;
        for (let upTo = 0; upTo <= heard.length; upTo += 1) {
          const had = heard.slice(0, upTo);
          const since = had.at(-1)?.position ?? BEGIN;
          const missed =
            since.late === late ? missedSince(since, window.tip(), behind(since.slot - 64n)) : null;
          if (missed !== null) expect(heldAfter([...had, ...missed], mintOf)).toEqual(stands);
        }
        // A client that was sent all of it goes on without a gap.
        expect(missedSince(window.tip(), window.tip(), behind(window.readFrom()))).toEqual([]);
      }
    }),
    { seed: SEED },
  );
});
