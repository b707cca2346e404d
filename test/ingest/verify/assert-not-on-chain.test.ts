import { expect, test } from 'vitest';
import { HistoryUnavailableError } from '../../../ingest/history/gap.ts';
import { verifyNext } from '../../../ingest/verify/verify.ts';
import type { PlacedTransaction } from '../../../ingest/verify/verify-window.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import { rpcOver } from '../../../runtime/rpc/methods.ts';
import { createRpcPool } from '../../../runtime/rpc/pool.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { createRandom } from '../../support/random.ts';

const SEED = Number(process.env.GHOSTS_SEED ?? 20_261_126);
const PROGRAM = encodeBase58(new Uint8Array(32).fill(4));
const TIP = 5_000;
const [FIRST, LAST] = [700, 1_800];
const at = (slot: number): PlacedTransaction => ({
  signature: encodeBase58(new Uint8Array(64).fill(slot % 251).fill(slot >> 8, 0, 1)),
  slot: BigInt(slot),
});
const ON_CHAIN = [800, 1_000, 1_001, 1_900].map(at);
const GHOST = at(1_100);

/** Whether a node has that slot. Which node behind the address answers is decided for each request. */
type Backend = (slot: number) => boolean;
const whole: Backend = () => true;
/** A node that began again from a snapshot. */
const holed: Backend = (slot) => slot < 900 || slot > 1_400;

/** Several nodes behind one address. */
function addressOf(next: (method: string) => Backend, chain = ON_CHAIN) {
  const asked: string[] = [];
  const ask = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    asked.push(method);
    const has = next(method);
    const known = chain.filter(({ slot }) => has(Number(slot)));
    if (method === 'getFirstAvailableBlock') return 0;
    if (method === 'getSlot') return TIP;
    if (method === 'getBlockTime') {
      if (has(Number(params[0]))) return 1_700_000_000 + Number(params[0]);
      throw new RpcError('refused', 'Slot was skipped, or missing', { code: -32009 });
    }
    if (method === 'getTransaction') {
      const found = known.find(({ signature }) => signature === params[0]);
      return found === undefined ? null : { slot: Number(found.slot) };
    }
    const { before, limit } = params[1] as { before?: string; limit: number };
    const list = known.toReversed();
    const place = list.findIndex(({ signature }) => signature === before);
    const page = before !== undefined && place === -1 ? [] : list.slice(place + 1, place + 1 + limit);
    return page.map(({ signature, slot }) => ({
      ...{ signature, slot: Number(slot), blockTime: 1_700_000_000 + Number(slot), err: null },
    }));
  };
  const pool = createRpcPool([{ ask, waitMs: () => 0 }], 1_000);
  return { asked, rpc: rpcOver(pool, 1_000, { commitment: 'confirmed' }) };
}

/** How many were struck; null where the comparison broke off. */
async function struck(stored: readonly PlacedTransaction[], { rpc }: ReturnType<typeof addressOf>) {
  const records: LogRecord[] = [];
  const found = await verifyNext(
    {
      ...{ rpc, commitment: 'confirmed', programId: PROGRAM, startSlot: BigInt(FIRST), everyMs: 0 },
      store: {
        verifiedSlot: async () => null,
        nextSlot: async () => 800n,
        signatureBehind: async () => ON_CHAIN.at(-1)?.signature ?? null,
        storedBetween: async (from, to) => stored.filter(({ slot }) => slot >= from && slot <= to),
        tracesOf: async (ghosts) => ghosts.map((ghost) => ({ ...ghost, policies: [], events: [] })),
        disputedSlots: async () => [],
      },
      log: { append: async (added) => void records.push(...added) },
      applied: async () => BigInt(LAST),
      openGaps: async () => [],
      logger: createLogger('silent', 'verify'),
      signal: new AbortController().signal,
    },
    null,
  ).catch((error) => {
    if (!(error instanceof RpcError) && !(error instanceof HistoryUnavailableError)) throw error;
    return null;
  });
  if (found === null) expect(records).toEqual([]);
  return found?.struck ?? null;
}

test('behind an address that picks a whole node or one with a hole at random, nothing is struck', async () => {
  const random = createRandom(SEED);
  const counts = new Map<number | null, number>();
  for (let round = 0; round < 200; round += 1) {
    const outcome = await struck(
      ON_CHAIN,
      addressOf(() => (random() < 0.5 ? holed : whole)),
    );
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  expect([...counts.keys()].sort(), `GHOSTS_SEED=${SEED}`).toEqual([0, null]);
});

test('behind an address whose whole nodes and ones with a hole take turns, nothing is struck', async () => {
  const one = ON_CHAIN.filter(({ slot }) => slot !== 1_001n);
  for (const turns of [
    [holed, whole],
    [holed, holed, whole],
    [holed, whole, whole],
  ])
    for (let first = 0; first < turns.length; first += 1) {
      let turn = first;
      const address = addressOf(() => turns[turn++ % turns.length] as Backend, one);
      for (let round = 0; round < 10; round += 1) expect((await struck(one, address)) ?? 0).toBe(0);
    }
});

test('a transaction that no node has is struck after three rounds, each asking for it three times', async () => {
  const address = addressOf(() => whole);
  expect(await struck([...ON_CHAIN, GHOST], address)).toBe(1);
  expect(address.asked.filter((method) => method === 'getTransaction')).toHaveLength(9);
  const lists = address.asked.filter((method) => method === 'getSignaturesForAddress').length;
  const unasked = addressOf(() => whole);
  expect(await struck(ON_CHAIN, unasked)).toBe(0);
  const listOnce = unasked.asked.filter((method) => method === 'getSignaturesForAddress').length;
  // Beside each list of the window, one to see whether the index reaches behind the ghost.
  expect(lists).toBe(3 * (listOnce + 1));
});

test('a transaction that a later list has is not struck, though no node returns it', async () => {
  for (const rounds of [1, 2]) {
    let told = 0;
    const address = addressOf((method) => {
      if (method === 'getTransaction') told += 1;
      if (method === 'getTransaction') return holed;
      // Two lists, each asked for three times in a round.
      return method === 'getSignaturesForAddress' && told < rounds * 6 ? holed : whole;
    });
    expect(await struck(ON_CHAIN, address)).toBeNull();
    expect(told).toBe(rounds * 6);
  }
});

test.each([
  ['a block 16 slots behind it', 1_116, 1],
  ['none before the 17th, as where each of them has a hole', 1_117, null],
])(
  'a transaction in a slot without blocks is struck only if a block follows within 16 slots: %s',
  async (_, next, expected) => {
    const skipping: Backend = (slot) => slot < 1_095 || slot >= next;
    expect(
      await struck(
        [...ON_CHAIN, GHOST],
        addressOf(() => skipping),
      ),
    ).toBe(expected);
  },
);
