import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Chain, createChain } from '../../devnet/chain/chain.ts';
import type { ProviderModes } from '../../devnet/geyser/modes.ts';
import { REPLAYS, readModes } from '../../devnet/geyser/modes.ts';
import { type GeyserServer, serveGeyser } from '../../devnet/geyser/server.ts';
import { createLife, type Life } from '../../devnet/life/life.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import {
  CONFIRMED,
  FINALIZED,
  type GeyserCall,
  type RawClient,
  type Request,
  rawClient,
} from './support/geyser-call.ts';

const OK = 0;
const INVALID_ARGUMENT = 3;
const RESOURCE_EXHAUSTED = 8;
const ABORTED = 10;
const OUT_OF_RANGE = 11;
const INTERNAL = 13;
const UNAVAILABLE = 14;
const DATA_LOSS = 15;
const UNAUTHENTICATED = 16;

let chain: Chain;
let life: Life;
let geyser: GeyserServer;
let client: RawClient;

beforeEach(async () => {
  chain = createChain({ dir: null, seed: 'geyser', genesisTime: 1_760_000_000_000, skipChance: 0.2 });
  life = createLife(chain, { seed: 'geyser', policies: 4, rate: 4 });
  geyser = await serveGeyser({ ledger: chain, port: 0, xToken: 'secret', retentionSlots: 30 });
  client = rawClient(geyser.port);
});

afterEach(async () => {
  client.close();
  await geyser.close();
  chain.close();
});

async function produce(blocks: number): Promise<void> {
  for (let made = 0; made < blocks; made += 1) await chain.produce(life.next());
}

const all = (more: Partial<Request> = {}): Request => ({
  accounts: { ours: { owner: [chain.programId] } },
  transactions: { ours: { accountInclude: [chain.programId] } },
  slots: { slots: {} },
  blocksMeta: { meta: {} },
  commitment: CONFIRMED,
  ...more,
});

const open = (more: Partial<Request> = {}): GeyserCall => client.subscribe(all(more), 'secret');

/** Subscribes, and waits until the server has taken the request: slots from now on are sent. */
async function live(more: Partial<Request> = {}): Promise<GeyserCall> {
  const call = open(more);
  await call.until(() => call.updates.length > 0);
  for (let metas = 0; metas === 0; metas = call.updates.filter(({ blockMeta }) => blockMeta).length) {
    await produce(1);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return call;
}

async function end(call: GeyserCall): Promise<GeyserCall['ended']> {
  await call.until(() => call.ended !== null);
  return call.ended;
}

describe('the stream of devnet, as the original server sends it', () => {
  test('a ping comes first; processed, accounts and transactions of a slot come before its meta, confirmed after it', async () => {
    await produce(20);
    const call = open({ fromSlot: String(chain.tip().slot - 10n) });
    await call.until(() => call.words().includes(`confirmed ${chain.tip().slot}`));
    const words = call.words();
    expect(words[0]).toBe('ping');
    const { slot, parent } = chain.tip();
    const at = (word: string) => words.indexOf(word);
    expect(at(`processed ${slot}`)).toBeLessThan(at(`meta ${slot}`));
    expect(at(`processed ${slot + 1n}`)).toBeLessThan(at(`meta ${slot}`));
    expect(at(`confirmed ${parent}`)).toBeLessThan(at(`meta ${slot}`));
    expect(at(`meta ${slot}`)).toBeLessThan(at(`confirmed ${slot}`));
    for (const word of [`account ${slot}`, `transaction ${slot}`])
      expect(words.lastIndexOf(word)).toBeLessThan(at(`meta ${slot}`));
  });

  test('a skipped slot is sent as processed, never as confirmed, and as dead only with interslotUpdates', async () => {
    await produce(30);
    const from = { fromSlot: String(chain.tip().slot - 20n) };
    const asked = open({ ...from, slots: { slots: { interslotUpdates: true } } });
    const plain = open(from);
    const done = `confirmed ${chain.tip().slot}`;
    await asked.until(() => asked.words().includes(done));
    await plain.until(() => plain.words().includes(done));
    const words = plain.words();
    const forked = words.flatMap((word) => {
      const [state, slot] = word.split(' ');
      return state === 'processed' &&
        BigInt(slot as string) <= chain.tip().slot &&
        chain.block(BigInt(slot as string)) === null
        ? [slot]
        : [];
    });
    expect(forked.length).toBeGreaterThan(0);
    for (const slot of forked) {
      expect(words).not.toContain(`confirmed ${slot}`);
      expect(asked.words()).toContain(`dead ${slot}`);
    }
    expect(words.filter((word) => /^(dead|bank|shred|completed)/.test(word))).toEqual([]);
    expect(asked.words().some((word) => word.startsWith('bank'))).toBe(true);
  });

  test('a from_slot above the tip, also in a later request, or below the kept slots ends the stream with an error', async () => {
    await produce(60);
    const { slot } = chain.tip();
    expect(await end(open({ fromSlot: String(slot + 1n) }))).toEqual({
      code: INTERNAL,
      details: 'failed to get replay response',
    });
    expect(await end(open({ fromSlot: '2' }))).toEqual({
      code: OUT_OF_RANGE,
      details: `broadcast from 2 is not available, last available: ${slot - 29n}`,
    });
    expect(await client.firstAvailable().catch((error) => error.code)).toBe(UNAUTHENTICATED);
    const call = await live();
    call.send(all({ fromSlot: String(chain.tip().slot + 1n) }));
    expect(await end(call)).toMatchObject({ code: INTERNAL });
  });

  test('of several requests pending on one stream only the newest is applied; an earlier from_slot is lost', async () => {
    await produce(20);
    const call = await live();
    const before = chain.tip().slot;
    call.send(all({ fromSlot: String(before - 10n), blocksMeta: { first: {} } }));
    call.send(all({ blocksMeta: { second: {} } }));
    const metas = () => call.updates.filter(({ blockMeta }) => blockMeta !== undefined);
    const isSecond = ({ filters }: GeyserCall['updates'][number]) => filters.includes('second');
    while (!metas().some(isSecond)) {
      await produce(1);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await produce(3);
    await call.until(() => call.words().includes(`meta ${chain.tip().slot}`));
    expect(metas().some(({ filters }) => filters.includes('first'))).toBe(false);
    const from = metas().findIndex(isSecond);
    expect(metas().slice(from).every(isSecond)).toBe(true);
    expect(metas().length - from).toBeGreaterThan(3);
  });

  test('a filter matches only if both account and owner match; an empty filter matches everything', async () => {
    await produce(10);
    const address = [...chain.state().policies.keys()][0] as string;
    const stranger = '11111111111111111111111111111111';
    const call = await live({
      accounts: {
        both: { account: [address], owner: [stranger] },
        address: { account: [address] },
        everything: {},
      },
      transactions: { everything: {} },
    });
    await produce(30);
    await call.until(() => call.words().includes(`confirmed ${chain.tip().slot}`));
    const names = new Set(call.updates.filter(({ account }) => account).flatMap(({ filters }) => filters));
    expect(names).toEqual(new Set(['address', 'everything']));
    const owners = new Set(
      call.updates.flatMap(({ account }) =>
        account ? [encodeBase58(account.account?.owner as Uint8Array)] : [],
      ),
    );
    expect(owners.size).toBeGreaterThan(1);
  });

  test('a wrong token or an invalid key ends the stream with an error, a request over 4 MiB without one', async () => {
    expect(await end(client.subscribe(all(), 'wrong'))).toEqual({
      code: UNAUTHENTICATED,
      details: 'No valid auth token',
    });
    expect(await end(open({ accounts: { bad: { account: ['nokey'] } } }))).toEqual({
      code: INVALID_ARGUMENT,
      details: 'failed to create filter: String is the wrong size',
    });
    const many = Array.from({ length: 95_000 }, () => chain.programId);
    expect(await end(open({ accounts: { many: { account: many } } }))).toEqual({ code: OK, details: '' });
  });

  test('block meta has a base58 hash and rewards, all but slot updates createdAt, transactions returnDataNone', async () => {
    const call = await live();
    await produce(5);
    await call.until(() => call.words().includes(`meta ${chain.tip().slot}`));
    const meta = call.updates.findLast(({ blockMeta }) => blockMeta !== undefined);
    expect(meta?.blockMeta?.blockhash).toBe(encodeBase58(chain.tip().blockhash));
    expect(meta?.blockMeta?.rewards).toBeDefined();
    const transaction = call.updates.find((update) => update.transaction !== undefined);
    expect(transaction?.transaction?.transaction?.meta?.returnDataNone).toBe(true);
    for (const update of call.updates.filter(({ ping }) => ping === undefined && meta))
      if (update.slot === undefined) expect(update.createdAt).toBeDefined();
  });

  test('getSlot at finalized fails before any slot is final; at confirmed it returns the tip', async () => {
    const free = await serveGeyser({ ledger: chain, port: 0 });
    const asker = rawClient(free.port);
    await produce(2);
    await expect(asker.slot(FINALIZED)).rejects.toMatchObject({
      code: INTERNAL,
      details: 'block is not available yet',
    });
    expect(await asker.slot(CONFIRMED)).toBe(String(chain.tip().slot));
    asker.close();
    await free.close();
  });
});

describe('provider modes of the devnet stream', () => {
  const replayed = async (modes: Partial<ProviderModes>) => {
    geyser.become(modes);
    return end(open({ fromSlot: String(chain.tip().slot - 5n) }));
  };

  test('each mode that refuses replay answers from_slot with its own error, a silent end or live slots only', async () => {
    await produce(10);
    expect(await replayed({ replay: 'off' })).toEqual({
      code: INTERNAL,
      details: 'from_slot is not supported',
    });
    expect(await replayed({ replay: 'failed' })).toEqual({
      code: INTERNAL,
      details: 'failed to get replay response',
    });
    expect(await replayed({ replay: 'out-of-range' })).toMatchObject({ code: OUT_OF_RANGE });
    expect(await replayed({ replay: 'invalid' })).toMatchObject({ code: INVALID_ARGUMENT });
    expect(await replayed({ replay: 'data-loss' })).toMatchObject({ code: DATA_LOSS });
    expect(await replayed({ replay: 'unavailable' })).toMatchObject({ code: UNAVAILABLE });
    expect(await replayed({ replay: 'silent' })).toEqual({ code: OK, details: '' });
    geyser.become({ replay: 'empty' });
    const tip = chain.tip().slot;
    const call = await live({ fromSlot: String(tip - 5n) });
    const metas = call.words().filter((word) => word.startsWith('meta'));
    expect(metas.filter((word) => BigInt(word.slice('meta '.length)) <= tip)).toEqual([]);
  });

  test('filters over the caps addresses and named are refused; mode terse does not name the cap', async () => {
    geyser.become({ addresses: 2, named: 1 });
    const account = Array.from({ length: 3 }, () => chain.programId);
    expect(await end(open({ accounts: { some: { account } } }))).toEqual({
      code: INVALID_ARGUMENT,
      details: 'failed to create filter: Max amount of Pubkeys reached, only 2 allowed',
    });
    expect(await end(open({ accounts: { one: { account: [] }, two: { account: [] } } }))).toEqual({
      code: INVALID_ARGUMENT,
      details: 'failed to create filter: Max amount of filters/data_slices reached, only 1 allowed',
    });
    geyser.become({ terse: true });
    expect((await end(open({ accounts: { some: { account } } })))?.details).not.toMatch(/\d/);
  });

  test('mode pings sends only pings, lag ends a stream, late sends accounts after meta, servers vary versions', async () => {
    geyser.become({ pings: true });
    const quiet = open();
    await quiet.until(() => quiet.updates.length > 0);
    await produce(5);
    // A refusal for want of the token: it comes on the same connection, so after everything that was sent before it.
    await expect(client.slot(CONFIRMED)).rejects.toMatchObject({ code: UNAUTHENTICATED });
    expect(new Set(quiet.words())).toEqual(new Set(['ping']));
    await produce(25);
    geyser.become({ pings: false, lag: 20 });
    const slow = open({ fromSlot: String(chain.tip().slot - 25n) });
    expect(await end(slow)).toEqual({ code: INTERNAL, details: 'lagged' });
    geyser.become({ lag: null, late: true, servers: 2 });
    const from = { fromSlot: String(chain.tip().slot - 25n) };
    const calls = [open(from), open(from)];
    for (const call of calls) await call.until(() => call.words().includes(`confirmed ${chain.tip().slot}`));
    const versions = calls.map(
      ({ updates }) => updates.find(({ account }) => account)?.account?.account?.writeVersion,
    );
    expect(new Set(versions).size).toBe(2);
    const words = calls[0]?.words() ?? [];
    expect(
      words.some(
        (word, at) => word.startsWith('account') && words.indexOf(word.replace('account', 'meta')) < at,
      ),
    ).toBe(true);
  });

  test('mode beside ends or silences streams that name accounts by address; streams refuses one above its limit', async () => {
    const followed = { accounts: { followed: { account: [chain.programId] } }, transactions: {} };
    geyser.become({ beside: 'unavailable' });
    expect(await end(open(followed))).toMatchObject({ code: UNAVAILABLE });
    geyser.become({ beside: 'ended' });
    expect(await end(open(followed))).toEqual({ code: OK, details: '' });
    geyser.become({ beside: 'pings' });
    const quiet = open(followed);
    await live();
    expect(new Set(quiet.words())).toEqual(new Set(['ping']));
    geyser.become({ beside: 'taken', streams: 2 });
    expect(await end(open())).toMatchObject({
      code: RESOURCE_EXHAUSTED,
      details: 'Max amount of streams reached, only 2 allowed',
    });
  });

  test('mode parentless leaves the parent out of block metas, also on a stream that is already open', async () => {
    const call = await live();
    geyser.become({ parentless: true });
    await produce(3);
    await call.until(() => call.words().includes(`confirmed ${chain.tip().slot}`));
    const parents = call.updates.flatMap(({ blockMeta }) => (blockMeta ? [blockMeta.parentSlot] : []));
    expect(parents.slice(-3)).toEqual(['0', '0', '0']);
  });

  test('mode newest accepts a stream above the limit and ends the oldest one', async () => {
    geyser.become({ streams: 2, newest: true });
    const [first, second] = [await live(), await live()];
    const third = await live();
    expect(await end(first)).toEqual({
      code: ABORTED,
      details: 'a newer stream of this token has begun',
    });
    await produce(2);
    const newest = `confirmed ${chain.tip().slot}`;
    await second.until(() => second.words().includes(newest) && third.words().includes(newest));
    expect([second.ended, third.ended]).toEqual([null, null]);
  });

  test('readModes reads the modes of a flag and names what is wrong with it', () => {
    expect(readModes('replay=off,addresses=10,late')).toMatchObject({
      replay: 'off',
      addresses: 10,
      late: true,
    });
    expect(readModes('beside=pings,streams=1')).toMatchObject({ beside: 'pings', streams: 1, newest: false });
    expect(readModes('streams=1,newest')).toMatchObject({ streams: 1, newest: true });
    expect(() => readModes('replay=maybe')).toThrow(REPLAYS.join(', '));
    expect(() => readModes('beside')).toThrow('beside is one of taken');
    expect(() => readModes('colour=blue')).toThrow('colour');
    expect(() => readModes('addresses=few')).toThrow('whole number');
  });
});
