import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test as inTurn } from 'vitest';
import { type Chain, createChain } from '../../../devnet/chain/chain.ts';
import { createLife } from '../../../devnet/life/life.ts';
import type { RpcManners } from '../../../devnet/rpc/manners.ts';
import { serveRpc } from '../../../devnet/rpc/server.ts';
import type { Gap } from '../../../ingest/history/gap.ts';
import type { UnreadGap } from '../../../ingest/history/read-history.ts';
import { partsOf } from '../../../ingest/log/gap-obstacle.ts';
import { gapAfter } from '../../../ingest/materialise/gap-rows.ts';
import { type Cursor, type CursorFile, createCursorFile } from '../../../ingest/operate/backfill/cursor.ts';
import { outcome, unreadLines } from '../../../ingest/operate/backfill/outcome.ts';
import { type BackfillOptions, runBackfill } from '../../../ingest/operate/backfill/run.ts';
import type { BackfillStore } from '../../../ingest/operate/backfill/stored.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { createProgress } from '../../../runtime/process/progress.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';
import type { GapRecord, LogRecord } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { ledgerTransactions } from '../support/ledger-facts.ts';

/** Concurrent, as most of them wait for the pauses between tries of a transaction. */
const test = inTurn.concurrent;

let chain: Chain;
let tip: bigint;

beforeAll(async () => {
  chain = createChain({ dir: null, seed: 'outcome', genesisTime: 1_760_000_000_000 });
  const life = createLife(chain, { seed: 'outcome', policies: 3 });
  for (let made = 0; made < 60; made += 1) await chain.produce(life.next());
  for (let made = 0; made < 80; made += 1) await chain.produce([]);
  tip = chain.tip().slot;
});
afterAll(() => chain.close());

/** The progress that an operator sees. */
function watched() {
  let shown = '';
  const write = (text: string) => {
    shown += text;
  };
  const progress: BackfillOptions['progress'] = (what, unit) =>
    createProgress({ what, unit, out: { write } });
  return { progress, shown: () => shown };
}

const open = (fromSlot: bigint, toSlot: bigint): Gap => ({ fromSlot, toSlot, toTime: null });

/** @param whole signatures that the index has */
const storeOf = (gaps: readonly Gap[], whole: () => readonly string[] = () => []): BackfillStore => ({
  knownAccounts: async () => [],
  openGaps: async () => [...gaps],
  historyBegin: async () => ({ firstSlot: null, clipped: [] }),
  lacking: async (transactions) => transactions.filter(({ signature }) => !whole().includes(signature)),
});

const keeping = (kept: Cursor | null): CursorFile => ({
  file: 'kept',
  read: async () => kept,
  write: async () => {},
  remove: () => {},
});

/** A cursor in memory, and a signal that aborts when it is first written. */
function endedAtFirstPlace() {
  const stop = new AbortController();
  let kept: Cursor | null = null;
  const cursor: CursorFile = {
    file: 'kept',
    read: async () => kept,
    write: async (next) => {
      kept = next;
      stop.abort();
    },
    remove: () => {
      kept = null;
    },
  };
  return { cursor, signal: stop.signal };
}

/** What an operator reads at the end, on standard output and standard error. */
async function backfilled(...[fromSlot, ...rest]: Parameters<typeof run>) {
  const { done, ...told } = await run(fromSlot, ...rest);
  if (done === null) throw new Error('it was not stopped');
  return { out: outcome(done, fromSlot), err: unreadLines(done), ...told };
}

async function run(
  fromSlot: bigint,
  gaps: Gap[],
  manners: Partial<RpcManners> = {},
  changed: (node: Rpc) => Partial<Rpc> = () => ({}),
  own: Partial<BackfillOptions> = {},
) {
  const rpc = await serveRpc({ ledger: chain, port: 0, manners });
  const node = createRpc(rpc.url, { commitment: 'confirmed' });
  const records: LogRecord[] = [];
  const said: string[] = [];
  const done = await runBackfill({
    ...{ fromSlot, programId: chain.programId, launchpadProgramId: chain.programId },
    rpc: { ...node, ...changed(node) },
    log: { append: async (added) => void records.push(...added), close: async () => {} },
    store: storeOf(gaps),
    cursor: keeping(null),
    say: (sentence) => void said.push(sentence),
    progress: watched().progress,
    logger: createLogger('silent', 'test'),
    signal: new AbortController().signal,
    ...own,
  }).finally(() => rpc.close());
  return { done, records, said };
}

test('the output is one summary line, and one line with advice for each gap that stays open', async () => {
  const [below, inside, above] = [open(1n, 30n), open(40n, 50n), open(tip - 20n, tip - 10n)];
  const { out, err } = await backfilled(0n, [inside]);
  expect(out).toEqual([expect.stringMatching(/^\d+ accounts, \d+ transactions; gaps closed: 40 to 50$/)]);
  expect(err).toEqual([]);
  expect((await backfilled(10n, [below, inside, above])).out).toEqual([
    expect.stringMatching(/; gaps closed: 40 to 50$/),
    'gap 1 to 30 stays open: it begins before slot 10; run it again with --from-slot 1',
    expect.stringMatching(/^gap \d+ to \d+ stays open: it ends less than 32 slots before the tip .* later$/),
  ]);
});

test('the part of a gap that PROGRAM_START_SLOT had left out is reported as closed once it is read', async () => {
  const clipped = [
    { fromSlot: 5n, firstSlot: 20n },
    { fromSlot: 12n, firstSlot: 20n },
    { fromSlot: 30n, firstSlot: tip },
  ];
  const store = { ...storeOf([]), historyBegin: async () => ({ firstSlot: 5n, clipped }) };
  const { out, records } = await backfilled(10n, [], {}, undefined, { store });
  expect(records.filter(({ kind }) => kind === 'gap')).toEqual([
    { kind: 'gap', fromSlot: 12n, toSlot: tip - 32n, toTime: null, closed: true },
  ]);
  expect(out).toEqual([expect.stringMatching(/; gaps closed: 12 to 19$/)]);
  const gap = { kind: 'gap', fromSlot: 12n, toSlot: 12n, toTime: null, closed: true } as const;
  const begun = gapAfter(undefined, { ...gap, obstacle: { type: 'pruned', firstSlot: 20n } });
  const [closing] = records.filter((record) => record.kind === 'gap');
  expect(gapAfter(begun, closing as GapRecord)).toMatchObject({ closed: true, obstacle: null });
});

test('a transaction that cannot be read is reported with its slot, whose gap stays open', async () => {
  const { signature, slot } = ledgerTransactions(chain)[5] as { signature: string; slot: bigint };
  const withheld = { affects: (one: string) => one === signature, times: 1_000 };
  const { out, err, records } = await backfilled(0n, [open(slot, slot)], { withheld });
  expect(out).toEqual([expect.stringMatching(/; gaps closed: none$/)]);
  expect(err).toEqual([
    `transaction ${signature} cannot be read, and slot ${slot} stays a gap; name a node in SOLANA_RPC_URL that has it, and run it again`,
  ]);
  expect(records.filter(({ kind }) => kind === 'gap')).toMatchObject([{ fromSlot: slot, closed: false }]);
});

test('a transaction that cannot be read but that the index has opens no gap and is not reported', async () => {
  const { signature } = ledgerTransactions(chain)[5] as { signature: string };
  const withheld = { affects: (one: string) => one === signature, times: 1_000 };
  const store = storeOf([], () => [signature]);
  const { err, records } = await backfilled(0n, [], { withheld }, undefined, { store });
  expect(records.filter(({ kind }) => kind === 'gap')).toEqual([]);
  expect(err).toEqual([]);
});

test('of several unreadable transactions in a slot, each that the index lacks is reported, and one names the gap', async () => {
  const [slot, ofSlot] = [...Map.groupBy(ledgerTransactions(chain), (one) => one.slot)].find(
    ([, all]) => all.length > 2 && all.length < 8,
  ) as [bigint, { signature: string }[]];
  const signatures = ofSlot.map(({ signature }) => signature);
  const withheld = { affects: (one: string) => signatures.includes(one), times: 1_000 };
  for (const whole of [signatures.slice(0, 1), signatures.slice(-1)]) {
    const lacked = signatures.filter((one) => !whole.includes(one));
    const store = storeOf([open(slot, slot)], () => whole);
    const { out, err, records } = await backfilled(0n, [], { withheld }, undefined, { store });
    const gaps = records.flatMap((record) => (record.kind === 'gap' ? [record] : []));
    expect(gaps).toMatchObject([{ fromSlot: slot, closed: false }]);
    expect(lacked).toContain(partsOf(gaps[0]?.obstacle ?? null).unread);
    expect(out).toEqual([expect.stringMatching(/; gaps closed: none$/)]);
    expect(err.map((line) => line.split(' ')[1]).toSorted()).toEqual(lacked.toSorted());
  }
});

test('an unreadable transaction that the index has by the end is not reported, and its gap is closed', async () => {
  const { signature, slot } = ledgerTransactions(chain)[5] as { signature: string; slot: bigint };
  const withheld = { affects: (one: string) => one === signature, times: 1_000 };
  let asked = 0;
  const store: BackfillStore = {
    ...storeOf([open(slot, slot)]),
    lacking: async (transactions) => (++asked === 1 ? [...transactions] : []),
  };
  const { out, err, records } = await backfilled(0n, [], { withheld }, undefined, { store });
  expect(err).toEqual([]);
  expect(out).toEqual([expect.stringMatching(new RegExp(`; gaps closed: ${slot} to ${slot}$`))]);
  expect(records.filter(({ kind }) => kind === 'gap')).toMatchObject([
    { fromSlot: slot, closed: false },
    { fromSlot: slot, closed: true },
  ]);
});

test.each([
  ['does not show its gap yet', 0n, []],
  ['shows a wider one that was there before', 3n, [3n]],
])(
  'the gap of an unreadable transaction that the index has by the end is closed by name if the index %s',
  async (_, width, wider) => {
    const { signature, slot } = ledgerTransactions(chain)[5] as { signature: string; slot: bigint };
    const withheld = { affects: (one: string) => one === signature, times: 1_000 };
    let asked = 0;
    const store: BackfillStore = {
      ...storeOf(wider.map((more) => open(slot, slot + more))),
      lacking: async (transactions) => (++asked === 1 ? [...transactions] : []),
    };
    const { out, err, records } = await backfilled(0n, [], { withheld }, undefined, { store });
    expect(err).toEqual([]);
    expect(out).toEqual([expect.stringMatching(new RegExp(`; gaps closed: ${slot} to ${slot + width}$`))]);
    expect(records.filter((record) => record.kind === 'gap' && record.closed)).toMatchObject([
      { fromSlot: slot, toSlot: tip - 32n, obstacle: { type: 'unread', signature } },
    ]);
  },
);

test('a gap that the index shows under another transaction of its slot is closed by both names', async () => {
  const [slot, ofSlot] = [...Map.groupBy(ledgerTransactions(chain), (one) => one.slot)].find(
    ([, all]) => all.length > 2 && all.length < 8,
  ) as [bigint, { signature: string }[]];
  const [one, other] = ofSlot.map(({ signature }) => signature) as [string, string];
  const withheld = { affects: (asked: string) => asked === one, times: 1_000 };
  let asked = 0;
  const store: BackfillStore = {
    ...storeOf([{ ...open(slot, slot), signature: other }]),
    lacking: async (transactions) => (++asked === 1 ? [...transactions] : []),
  };
  const { out, err, records } = await backfilled(0n, [], { withheld }, undefined, { store });
  expect(err).toEqual([]);
  expect(out).toEqual([expect.stringMatching(new RegExp(`; gaps closed: ${slot} to ${slot}$`))]);
  const names = records.flatMap((record) =>
    record.kind === 'gap' && record.closed ? [partsOf(record.obstacle ?? null).unread] : [],
  );
  expect(names.toSorted()).toEqual([one, other].toSorted());
});

describe('a gap that names a transaction', () => {
  /** A gap with a place just above its slot, as ingest keeps it. @param least fewest transactions in the slot */
  function named(least = 1): UnreadGap {
    const all = ledgerTransactions(chain);
    const { signature, slot } = all.find(
      (one, at) => at >= 20 && all.filter(({ slot }) => slot === one.slot).length >= least,
    ) as { signature: string; slot: bigint };
    const before = all.find((one) => one.slot > slot)?.signature ?? null;
    return { ...open(slot, slot), before, signature };
  }
  const closings = (records: readonly LogRecord[]) =>
    records.filter((record) => record.kind === 'gap' && record.closed);
  const listing =
    (without: string) =>
    (node: Rpc): Partial<Rpc> => ({
      getSignaturesForAddress: async (...asked) =>
        (await node.getSignaturesForAddress(...asked)).filter(({ signature }) => signature !== without),
    });

  test('stays open if the list lacks that transaction, which is reported', async () => {
    const gap = named();
    const { out, err, records } = await backfilled(0n, [gap], {}, listing(gap.signature));
    expect(closings(records)).toEqual([]);
    expect(out).toEqual([expect.stringMatching(/; gaps closed: none$/)]);
    expect(err).toEqual([expect.stringContaining(`transaction ${gap.signature} cannot be read, and slot`)]);
  });

  test('is closed once that transaction is read, and the closing names it', async () => {
    const gap = named();
    const { err, records } = await backfilled(0n, [gap]);
    expect(err).toEqual([]);
    const { fromSlot, signature } = gap;
    expect(records.at(-1)).toMatchObject({
      ...{ kind: 'gap', fromSlot, toSlot: tip - 32n, closed: true },
      obstacle: { type: 'unread', signature },
    });
    const read = records.filter(
      (record) => record.kind === 'transaction' && encodeBase58(record.signature) === signature,
    );
    expect(read.length).toBeGreaterThan(0);
  });

  test('stays open if the index has that transaction but the list lacks it: the list may lack others of the slot', async () => {
    const gap = named();
    const store = storeOf([gap], () => [gap.signature]);
    const { out, err, records } = await backfilled(0n, [gap], {}, listing(gap.signature), { store });
    expect(closings(records)).toEqual([]);
    expect(out).toEqual([expect.stringMatching(/; gaps closed: none$/)]);
    expect(err).toEqual([expect.stringContaining(`transaction ${gap.signature} cannot be read, and slot`)]);
  });

  test('is closed if the index has all that is unreadable in its slot, and stays open for any that it lacks', async () => {
    const gap = named(2);
    const ofSlot = ledgerTransactions(chain).filter(({ slot }) => slot === gap.fromSlot);
    const other = ofSlot.find(({ signature }) => signature !== gap.signature)?.signature as string;
    // It can be read as the run passes the slot, and not as its gap is to be closed.
    let isPassed = false;
    const withheld = (node: Rpc): Partial<Rpc> => ({
      getTransaction: async (one, how) => {
        const isRefused = isPassed && (one === other || one === gap.signature);
        return isRefused ? null : node.getTransaction(one, how);
      },
    });
    for (const whole of [[gap.signature], [gap.signature, other]]) {
      isPassed = false;
      const store: BackfillStore = {
        ...storeOf([gap], () => whole),
        openGaps: async () => {
          isPassed = true;
          return [gap];
        },
      };
      const { err, records } = await backfilled(0n, [gap], {}, withheld, { store });
      const isClosed = whole.includes(other);
      expect(closings(records)).toHaveLength(isClosed ? 1 : 0);
      expect(err).toEqual(isClosed ? [] : [expect.stringContaining(`transaction ${other} cannot be read`)]);
    }
  });
});

test('a run that was stopped leaves its unreadable transactions to the next run, which reports them', async () => {
  const { signature, slot } = ledgerTransactions(chain).at(-6) as { signature: string; slot: bigint };
  const withheld = { affects: (one: string) => one === signature, times: 1_000 };
  const { cursor, signal } = endedAtFirstPlace();
  const first = await run(0n, [], { withheld }, undefined, { cursor, signal });
  expect(first.done).toBeNull();
  const told = first.records.filter(({ kind }) => kind === 'gap');
  expect(told).toMatchObject([{ fromSlot: slot, toSlot: tip - 32n, closed: false }]);

  const { out, err, records } = await backfilled(0n, [open(slot, slot)], {}, undefined, { cursor });
  expect(out).toEqual([expect.stringMatching(/; gaps closed: none$/)]);
  expect(err).toEqual([expect.stringContaining(`transaction ${signature} cannot be read, and slot ${slot}`)]);
  expect(records.filter(({ kind }) => kind === 'gap')).toEqual([]);
});

test('a run that resumes another says so, and also reads what came since that one began', async () => {
  const cursor = keeping({
    ...{ begunAt: Date.UTC(2026, 0, 2, 3, 4, 5), topSlot: 40n, fromSlot: 0n, toSlot: 20n, unread: [] },
  });
  const { progress, shown } = watched();
  const own = { cursor, progress };
  const { out, said, records } = await backfilled(0n, [open(10n, 60n)], {}, undefined, own);
  expect(said).toEqual([
    'going on with the run of 2026-01-02T03:04:05.000Z: what is up to slot 40 is read but 0 to 20; remove kept to have all of it read again',
  ]);
  const slots = records.flatMap((record) => (record.kind === 'transaction' ? [record.slot] : []));
  const isLeft = (slot: bigint) => slot <= 20n || slot > 40n;
  expect(slots.filter((slot) => !isLeft(slot))).toEqual([]);
  const ofChain = ledgerTransactions(chain).map(({ slot }) => slot);
  expect(slots).toEqual(expect.arrayContaining(ofChain.filter(isLeft)));
  expect(out).toEqual([expect.stringMatching(/; gaps closed: 10 to 60$/)]);
  expect(shown()).toMatch(/transactions 100 %, \d+ of \d+ slots, (.+, )?[1-9]\d* read\n$/);
});

test('a resumed run that is stopped again keeps a cursor of what is left', async () => {
  const { cursor, signal } = endedAtFirstPlace();
  const earlier = { begunAt: 5_000, topSlot: 40n, fromSlot: 0n, toSlot: -1n, unread: [] };
  const going = { ...cursor, read: async () => earlier };
  expect((await run(0n, [], {}, undefined, { cursor: going, signal })).done).toBeNull();
  expect(await cursor.read()).toMatchObject({ begunAt: 5_000, topSlot: tip - 32n, fromSlot: 41n });
});

test('a cursor is ignored if the log has become shorter or was made anew since', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'cursor-'));
  const log = { end: 100n, firstLater: 100n };
  const cursor = createCursorFile(dataDir, ['job'], {
    ends: async () => new Map([[0, log.end]]),
    since: async (millis) => new Map([[0, millis > Date.now() ? log.firstLater : 0n]]),
  });
  try {
    const unread = [{ signature: 'S', fromSlot: 8n, before: 'B' }];
    const place = { begunAt: 1_000, topSlot: 9n, fromSlot: 2n, toSlot: 7n, unread };
    expect(await cursor.read()).toBeNull();
    await cursor.write(place);
    expect(await cursor.read()).toMatchObject(place);
    log.end = 200n;
    expect(await cursor.read()).toMatchObject(place);
    // In a topic that was made anew all records are younger.
    log.firstLater = 50n;
    expect(await cursor.read()).toBeNull();
    Object.assign(log, { end: 99n, firstLater: 100n });
    expect(await cursor.read()).toBeNull();
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

test.each([
  ['refuses', 'none'],
  ['does not answer', 'silent'],
] as const)(
  'if a node %s the list of accounts, transactions are still read, and the lack of a list is reported',
  async (_, scans) => {
    const { out, err } = await backfilled(0n, [], { scans }, undefined, { patienceMs: 1 });
    expect(out).toEqual([expect.stringMatching(/^1 accounts, [1-9]\d* transactions; gaps closed: none$/)]);
    expect(err).toEqual([
      expect.stringMatching(/^no node lists the accounts .* getProgramAccounts, and run it again$/),
    ]);
  },
);

test('a list of accounts that lacks some is reported, with advice', async () => {
  const whole = Number((await backfilled(0n, [])).out[0]?.split(' ')[0]);
  const { out, err } = await backfilled(0n, [], { unlistedOneIn: 3 });
  expect(Number(out[0]?.split(' ')[0])).toBeLessThan(whole);
  expect(err).toEqual([
    expect.stringMatching(/^the list of the program's accounts .* lacks .* run it again$/),
  ]);
});

test('an account full of zeros that somebody assigned to the program does not make the list count as incomplete', async () => {
  const given = encodeBase58(new Uint8Array(32).fill(7));
  const owner = decodeKey(chain.programId) as Uint8Array;
  const giving = (node: Rpc): Partial<Rpc> => ({
    getMultipleAccounts: async (addresses, options) => {
      const { slot, accounts } = await node.getMultipleAccounts(addresses, options);
      const zeros = { owner, lamports: 1n, data: new Uint8Array(165) };
      return { slot, accounts: accounts.map((one, at) => (addresses[at] === given ? zeros : one)) };
    },
  });
  const known = [{ address: given, expected: 'token_account', named: true }] as const;
  const store = { ...storeOf([]), knownAccounts: async () => [...known] };
  const { err, records } = await backfilled(0n, [], { scans: 'filtered' }, giving, { store });
  expect(records.some((one) => one.kind === 'account' && encodeBase58(one.address) === given)).toBe(true);
  expect(err).toEqual([]);
});

test('an account that cannot be read is reported by address, and not counted as read', async () => {
  const whole = Number((await backfilled(0n, [])).out[0]?.split(' ')[0]);
  const [policy] = [...chain.state().policies.values()];
  const { mint } = policy as { mint: string };
  const { out, err } = await backfilled(0n, [], {}, (node) => ({
    getMultipleAccounts: async (addresses, options) => {
      if (addresses.includes(mint)) throw new RpcError('unreachable', 'timed out');
      return node.getMultipleAccounts(addresses, options);
    },
  }));
  expect(Number(out[0]?.split(' ')[0])).toBe(whole - 1);
  expect(err).toEqual([
    `account ${mint} cannot be read, and stands as it was known before; name a node in SOLANA_RPC_URL that reads it, and run it again`,
  ]);
});

test('over a pruned node a run reads all that the node has, then fails with advice', async () => {
  const { progress, shown } = watched();
  const ended = backfilled(0n, [], { firstBlock: 30n }, undefined, { progress });
  await expect(ended).rejects.toThrow(
    /first block is 30.*: name a node in SOLANA_RPC_URL that has it, or begin later/,
  );
  expect(shown()).toMatch(/transactions 100 %, (\d+) of \1 slots, (.+, )?[1-9]\d* read\n$/);
});
