import { afterEach, expect, test } from 'vitest';
import { mannersNamed, type RpcManners } from '../../../devnet/rpc/manners.ts';
import { lacksOf } from '../../../ingest/stream/sweeps/list-lacks.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type Running, type StreamStage, until } from '../support/stream-stage.ts';
import { watchedLog } from '../support/watched-log.ts';

const SEED = process.env.SEED ?? 'partial-1';

let stage: StreamStage;
afterEach(() => stage?.close());

/** A chain whose accounts are not written to any more, and a node with these manners. */
async function resting(manners: Partial<RpcManners>): Promise<void> {
  stage = await openStreamStage({ seed: SEED, policies: 10 });
  stage.rpc.faults.behave(manners);
  const { chain, model } = stage;
  await stage.live(60);
  const { policies, venues } = chain.state();
  /** The store's answer: accounts that events name and that were never read; none before history is read. */
  model.unreadAccounts = async () => {
    if (model.gaps.size === 0 || !(await model.isWhole())) return [];
    return [
      ...[...policies].map(([policy]) => ({ policy, token_account: '' })),
      ...[...venues.values()].map(({ policy, tokenAccount }) => ({ policy, token_account: tokenAccount })),
    ];
  };
}

const listsOf = ({ events }: Running) =>
  events.flatMap((event) => (event.type === 'listed' ? [event.listed] : []));
/** Slot from which on a record says that lists are complete; null: it does not. */
const listedSlotOf = (record: LogRecord): bigint | null =>
  record.kind === 'reading' && record.reading.type === 'stream' && record.reading.listed === true
    ? BigInt(record.reading.listedSlot ?? -1)
    : null;
const isClosed = ({ events }: Running) => events.findIndex((event) => event.type === 'gap' && !event.open);

test(`a list that leaves accounts out is reported, and those are read once history names them (seed ${SEED})`, async () => {
  await resting(mannersNamed(['partial-list']));
  const running = stage.start({ compareMs: 100 });
  await stage.settled();
  const { chain, model } = stage;
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  await until('it is told', () => listsOf(running).includes('part'));
  expect(listsOf(running)).not.toContain('proved');
});

test('an empty list counts as partial where the program has its configuration account', async () => {
  await resting({ unlistedOneIn: 1 });
  const running = stage.start({ compareMs: 100 });
  await stage.restUntil('it is told', () => listsOf(running).includes('part'));
});

test('a list is proved complete only once the whole history is read and names no other account', async () => {
  await resting({});
  const records: LogRecord[] = [];
  const running = stage.start({ compareMs: 100, log: watchedLog(records) });
  await stage.restUntil('it is proved', () => listsOf(running).includes('proved'));
  const toldAt = () => records.findIndex((one) => listedSlotOf(one) !== null);
  await stage.restUntil('its slot is told', () => toldAt() >= 0);
  const slot = listedSlotOf(records[toldAt()] as LogRecord) as bigint;
  const markedAt = () => records.findIndex((one) => one.kind === 'marker' && one.slot >= slot);
  await stage.restUntil('its slot is marked', () => markedAt() >= 0);
  const read = records
    .slice(0, toldAt())
    .findLastIndex((one) => one.kind === 'account' && one.source === 'rpc');
  expect(read).toBeGreaterThan(0);
  expect(markedAt()).toBeGreaterThan(read);
  const { events } = running;
  expect(isClosed(running)).toBeGreaterThan(-1);
  expect(isClosed(running)).toBeLessThan(
    events.findIndex((event) => event.type === 'listed' && event.listed === 'proved'),
  );
  expect(new Set(listsOf(running))).toEqual(new Set(['unproved', 'proved']));
});

test('a list that has become shorter counts as partial, and the accounts that it lacks keep their states', async () => {
  await resting({});
  const first = stage.start({ compareMs: 100 });
  await stage.restUntil('it is proved', () => listsOf(first).includes('proved'));
  await first.stop();
  const { chain, model } = stage;
  stage.rpc.faults.behave({ unlistedOneIn: 1 });
  await stage.live(1);
  // An earlier proof is compared with the end of the log.
  const end = (await model.position())?.slot as bigint;
  const compared: unknown[] = [];
  model.listedSlot = async (position) => {
    compared.push(position);
    return null;
  };
  const second = stage.start({ compareMs: 100, position: model.position });
  await stage.restUntil('it is told', () => listsOf(second).includes('part'));
  expect(wrongStates(chain, model)).toEqual([]);
  expect(compared).toEqual([end]);
});

test('a list is requested at the slot that the stream has reached', async () => {
  await resting({ scans: 'none' });
  const { chain, model } = stage;
  model.unreadAccounts = async () => [];
  const running = stage.start({ compareMs: 100 });
  await stage.restUntil('it is refused', () => listsOf(running).includes('refused'));
  await stage.live(60);
  const before = chain.tip().slot;
  await stage.restUntil('it is marked', () => (model.markers.accounts.at(-1) ?? 0n) >= before);
  // A sweep under way began with what the stream had brought then, so wait for the next.
  const asked = listsOf(running).length;
  await stage.restUntil('it is refused again', () => listsOf(running).length > asked);
  const known = new Set(model.accounts.keys());
  stage.rpc.faults.behave({ scans: 'any', pool: [40] });
  await stage.restUntil('it is listed', () => listsOf(running).includes('unproved'));
  const { policies, venues } = chain.state();
  const found = [...policies.keys(), ...venues.keys()].filter((address) => !known.has(address));
  expect(found.length).toBeGreaterThan(0);
  for (const address of found) expect(model.accounts.get(address)?.slot).toBeGreaterThanOrEqual(before);
});

test('lacksOf finds accounts that listed ones name or count and that are not listed', async () => {
  await resting({});
  const running = stage.start({ compareMs: 100 });
  await stage.settled();
  await stage.restUntil('it is proved', () => listsOf(running).includes('proved'));
  const { chain, model } = stage;
  const program = decodeKey(chain.programId) as Uint8Array;
  const all = [...model.accounts.values()].filter(({ owner }) => Buffer.compare(owner, program) === 0);
  expect(lacksOf(program, all)).toEqual({ named: new Set(), short: 0 });
  const { policies, venues } = chain.state();
  const without = (address: string): AccountRecord[] =>
    all.filter((record) => encodeBase58(record.address) !== address);
  const [venue] = [...venues].find(([, { revoked }]) => !revoked) as [string, object];
  expect(lacksOf(program, without(venue)).short).toBe(1);
  // An account that does not decode may be the missing one.
  const cut = all.map((record) =>
    encodeBase58(record.address) === venue ? { ...record, data: record.data.subarray(0, 40) } : record,
  );
  expect(lacksOf(program, cut).short).toBe(0);
  const withVenue = new Set([...venues.values()].map(({ policy }) => policy));
  const [policy] = [...policies.keys()].filter((one) => withVenue.has(one)) as [string];
  expect(lacksOf(program, without(policy)).named).toEqual(new Set([policy]));
});
