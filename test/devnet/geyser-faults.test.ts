import { hash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Chain, createChain } from '../../devnet/chain/chain.ts';
import { REPLAYS } from '../../devnet/geyser/modes.ts';
import { type GeyserServer, serveGeyser } from '../../devnet/geyser/server.ts';
import { createLife, type Life } from '../../devnet/life/life.ts';
import { createRandom } from '../../devnet/program/state/random.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { CONFIRMED, type GeyserCall, type RawClient, rawClient } from './support/geyser-call.ts';

let chain: Chain;
let life: Life;
let geyser: GeyserServer;
let client: RawClient;

beforeEach(async () => {
  chain = createChain({ dir: null, seed: 'faults', genesisTime: 1_760_000_000_000 });
  life = createLife(chain, { seed: 'faults', policies: 4, rate: 4 });
  geyser = await serveGeyser({ ledger: chain, port: 0 });
  client = rawClient(geyser.port);
  for (let made = 0; made < 60; made += 1) await chain.produce(life.next());
});
afterEach(async () => {
  client.close();
  await geyser.close();
  chain.close();
});

const seeded = () => {
  const random = createRandom('faults');
  return () => random.next();
};

/** Streams the whole chain from its first slots on. */
async function replayed(): Promise<GeyserCall> {
  const call = client.subscribe({
    accounts: { ours: { owner: [chain.programId] } },
    transactions: { ours: { accountInclude: [chain.programId] } },
    slots: { slots: {} },
    blocksMeta: { meta: {} },
    commitment: CONFIRMED,
    fromSlot: '2',
  });
  const done = `confirmed ${chain.tip().slot}`;
  await call.until(() => call.words().includes(done) || call.ended !== null);
  return call;
}

function ledgerSignatures(): Set<string> {
  const found = new Set<string>();
  for (let slot = 2n; slot <= chain.tip().slot; slot += 1n)
    for (const { signature, ours } of chain.block(slot)?.transactions ?? [])
      if (ours) found.add(encodeBase58(signature));
  return found;
}
function add(to: Map<string, Set<string>>, key: string, value: string): void {
  to.set(key, (to.get(key) ?? new Set()).add(value));
}
const hashOf = (bytes: Uint8Array) => hash('sha256', bytes, 'base64');
const sent = ({ updates }: GeyserCall) =>
  updates.flatMap(({ transaction }) => {
    const signature = transaction?.transaction?.signature;
    return signature === undefined ? [] : [encodeBase58(signature)];
  });

test('SubscribeReplayInfo returns the first kept slot, and none in the replay modes off, empty and silent', async () => {
  const told = new Map<string, string | undefined>();
  for (const replay of REPLAYS) {
    geyser.become({ replay });
    told.set(replay, await client.firstAvailable());
  }
  expect(told.get('kept')).toBe(String(chain.firstSlot));
  expect([told.get('off'), told.get('empty'), told.get('silent')]).toEqual([undefined, undefined, undefined]);
});

test('the fault mixInDeadVersion adds transactions the chain does not have and leaves out some that it has', async () => {
  const whole = ledgerSignatures();
  expect(new Set(sent(await replayed()))).toEqual(whole);
  geyser.faults.mixInDeadVersion(seeded());
  const haunted = new Set(sent(await replayed()));
  const only = (these: Set<string>, those: Set<string>) => [...these].filter((one) => !those.has(one)).length;
  expect(only(haunted, whole)).toBeGreaterThan(0);
  expect(only(whole, haunted)).toBeGreaterThan(0);
  expect(geyser.faults.mixedIn()).toEqual({ ghosts: only(haunted, whole), lost: only(whole, haunted) });
});

test('the fault remake sends both versions of a slot, the same in every replay; the fault lose leaves data out', async () => {
  const told = (call: GeyserCall) => {
    const metas = new Map<string, Set<string>>();
    const payloads = new Map<string, Set<string>>();
    const states = new Set<string>();
    for (const { blockMeta, transaction, account } of call.updates) {
      if (blockMeta !== undefined) add(metas, blockMeta.slot, blockMeta.blockhash);
      if (transaction?.transaction !== undefined) {
        const { signature, meta, index } = transaction.transaction;
        add(payloads, encodeBase58(signature), JSON.stringify([index, meta?.logMessages, meta?.err]));
      }
      if (account?.account !== undefined)
        states.add(`${account.slot} ${encodeBase58(account.account.pubkey)} ${hashOf(account.account.data)}`);
    }
    return { metas, payloads, states };
  };
  const plain = told(await replayed());
  geyser.faults.remake('one');
  const [made, again] = [told(await replayed()), told(await replayed())];
  expect(again).toEqual(made);
  const twice = (of: Map<string, Set<string>>) => [...of.values()].filter(({ size }) => size > 1).length;
  expect([twice(plain.metas), twice(plain.payloads)]).toEqual([0, 0]);
  expect(twice(made.metas)).toBeGreaterThan(5);
  expect(twice(made.payloads)).toBeGreaterThan(5);
  expect(made.states.size).toBeGreaterThan(plain.states.size + 5);
  geyser.faults.remake(null);
  geyser.faults.lose('one');
  const lossy = told(await replayed());
  expect(lossy.payloads.size).toBeLessThan(plain.payloads.size);
  expect(lossy.states.size).toBeLessThan(plain.states.size);
});

test('the fault limit ends open streams and refuses new ones with its message until it is lifted', async () => {
  const open = await replayed();
  geyser.faults.limit('quota of the day is used up');
  await open.until(() => open.ended !== null);
  const refusal = { code: 8, details: 'quota of the day is used up' };
  expect([open.ended, (await replayed()).ended]).toEqual([refusal, refusal]);
  geyser.faults.limit(null);
  expect((await replayed()).ended).toBeNull();
});

test('the fault choke ends a stream with OUT_OF_RANGE when it comes to the chosen slot', async () => {
  const slot = chain.tip().slot - 5n;
  geyser.faults.choke(new Set([slot]));
  const call = await replayed();
  await call.until(() => call.ended !== null);
  expect(call.ended).toMatchObject({
    code: 11,
    details: expect.stringContaining('message length too large'),
  });
  expect(
    call
      .words()
      .filter((word) => word.startsWith('meta'))
      .at(-1),
  ).toBe(`meta ${chain.block(slot)?.parent}`);
});

test('the fault sendOddities adds updates to the stream and leaves out no transaction', async () => {
  const plain = await replayed();
  geyser.faults.sendOddities(seeded());
  const odd = await replayed();
  expect(odd.updates.length).toBeGreaterThan(plain.updates.length);
  expect(sent(odd)).toEqual(sent(plain));
});
