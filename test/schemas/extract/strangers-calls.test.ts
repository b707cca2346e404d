import * as token from '@solana-program/token-2022';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Chain, createChain } from '../../../devnet/chain/chain.ts';
import { createLife } from '../../../devnet/life/life.ts';
import type { Extract } from '../../../schemas/extract/extract.ts';
import { isTokenCall } from '../../../schemas/extract/token-moves.ts';
import { discriminatorOf, INSTRUCTIONS_WITH_EVENT } from '../../../schemas/program/idl.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { policyTokenAccounts } from '../../../schemas/solana/pda.ts';
import { sameBytes } from '../../../schemas/transaction/own-calls.ts';
import type { Call, ChainTransaction } from '../../../schemas/transaction/parts.ts';
import { extracted, toldByNode } from '../support/local-transactions.ts';

const SEED = process.env.STRANGERS_SEED ?? 'strangers 1';
const KINDS = ['FeesClaimed', 'Routed', 'ProfitSwept', 'BuybackBurned', 'PassiveDeployed'];
const TOKEN_2022 = decodeKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb') as Uint8Array;
const [MINT, OWN, AUTHORITY] = [61, 62, 63].map((fill) => new Uint8Array(32).fill(fill)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

/** Discriminators of the token metadata and token group interfaces, by their names in the program's own client. */
const OF_MINTS = Object.entries(token).flatMap(([name, data]): [string, Uint8Array][] =>
  data instanceof Uint8Array && data.length === 8 ? [[name, data]] : [],
);

let chain: Chain;
/** For each kind, a transaction with an event of it alone, and logs cut before the first line. */
let cut: Map<string, ChainTransaction>;
/** A transaction that routes another policy's fees. */
let another: ChainTransaction | undefined;

beforeAll(async () => {
  chain = createChain({ dir: null, seed: SEED, genesisTime: 1_760_000_000_000, cutLogs: { onStream: 0 } });
  const life = createLife(chain, { seed: SEED, policies: 8, rate: 4 });
  cut = new Map();
  another = undefined;
  for (let made = 0; made < 900 && (cut.size < KINDS.length || another === undefined); made += 1) {
    const block = await chain.produce(life.next());
    for (const tx of block.transactions) {
      const [event, ...others] = tx.events;
      if (tx.failed !== null || event === undefined || others.length > 0) continue;
      const first = cut.get(event.kind);
      if (!KINDS.includes(event.kind) || (first !== undefined && event.kind !== 'Routed')) continue;
      const told = { ...toldByNode(block, tx), logs: ['Log truncated'] };
      // Other transactions emit events by calls, which are not cut.
      if (extracted(chain, told).status !== 'derived') continue;
      if (first === undefined) cut.set(event.kind, told);
      else if (!sameBytes(policyOf(told), policyOf(first))) another ??= told;
    }
  }
  expect([...cut.keys()].sort()).toEqual([...KINDS].sort());
});

function derived(tx: ChainTransaction): Extract & { status: 'derived' } {
  const extract = extracted(chain, tx);
  if (extract.status !== 'derived') throw new Error(`it is ${extract.status}`);
  return extract;
}

/** The policy of its event. */
const policyOf = (tx: ChainTransaction) => derived(tx).events[0]?.of?.policy as Uint8Array;

/** The token accounts of that policy. */
function accountsOf(tx: ChainTransaction): Uint8Array[] {
  return Object.values(policyTokenAccounts(decodeKey(chain.programId) as Uint8Array, policyOf(tx)));
}

const call = (data: readonly number[], accounts: readonly Uint8Array[], depth = 1): Call => ({
  ...{ depth, program: TOKEN_2022, data: Uint8Array.from(data) },
  accounts: accounts.map((address) => ({ address, writable: true })),
});

/** A batch of one instruction that takes all accounts. */
const batch = (data: readonly number[], count: number) => [255, count, data.length, ...data];

describe(`token calls that strangers add beside a call of the program (seed ${SEED})`, () => {
  test.each<[string, (all: readonly Uint8Array[]) => Call]>([
    ['harvest fees of another mint', (all) => call([26, 4], [MINT, ...all])],
    ['withdraw fees of another mint elsewhere', (all) => call([26, 2], [MINT, OWN, AUTHORITY, ...all])],
    ['withdraw fees from other accounts', (all) => call([26, 3, 5], [MINT, OWN, AUTHORITY, ...all])],
    ['set a fee', (all) => call([26, 5, 0, 0], [MINT, AUTHORITY, ...all])],
    ['deposit elsewhere', (all) => call([27, 5], [OWN, MINT, AUTHORITY, ...all])],
    ['apply what was deposited', (all) => call([27, 8], [OWN, AUTHORITY, ...all])],
    ['ask for memos', (all) => call([30, 0], [OWN, AUTHORITY, ...all])],
    ['pause another mint', (all) => call([44, 1], [MINT, AUTHORITY, ...all])],
    ['unwrap lamports elsewhere', (all) => call([45, 0], [OWN, AUTHORITY, AUTHORITY, ...all])],
    ['burn elsewhere', (all) => call([46, 1, 9, 0, 0, 0, 0, 0, 0, 0], [OWN, MINT, AUTHORITY, ...all])],
    ['harvest fees in a batch', (all) => call(batch([26, 4], all.length + 1), [MINT, ...all])],
    ['add more accounts to a batch', (all) => call(batch([30, 0], 2), [OWN, AUTHORITY, ...all])],
    ...OF_MINTS.map(([name, data]): [string, (all: readonly Uint8Array[]) => Call] => [
      name,
      (all) => call([...data, 9], [MINT, ...all]),
    ]),
  ])('%s: the derived events are the same as without', (_, made) => {
    for (const tx of cut.values()) {
      const stranger = made(accountsOf(tx));
      const before = derived(tx);
      expect(derived({ ...tx, calls: [stranger, ...tx.calls, stranger] })).toEqual(before);
    }
  });

  test.each<[string, (all: readonly Uint8Array[]) => Call[]]>([
    ['withdraw fees into them', (all) => all.map((one) => call([26, 2], [MINT, one, AUTHORITY]))],
    ['deposit of them', (all) => all.map((one) => call([27, 5], [one, MINT, AUTHORITY]))],
    ['unwrap them', (all) => all.map((one) => call([45, 0], [one, OWN, AUTHORITY]))],
    ['burn of them', (all) => all.map((one) => call([46, 1], [one, MINT, AUTHORITY]))],
    ['make an unknown call', (all) => [call([47], all)]],
    ['make an unknown call of the fee extension', (all) => [call([26, 6], all)]],
    ['unwrap them in a batch', (all) => all.map((one) => call(batch([45, 0], 3), [one, OWN, AUTHORITY]))],
    ['make a malformed batch', (all) => [call([255, 9, 9, 26], all)]],
  ])('%s: no event is derived, and its kind is undecided for the policy alone', (_, made) => {
    for (const [kind, tx] of cut) {
      const calls = [...made(accountsOf(tx)), ...tx.calls];
      const { events, undecided } = derived({ ...tx, calls });
      expect(events, kind).toEqual([]);
      expect(undecided, kind).toEqual({ what: [kind], accounts: [encodeBase58(policyOf(tx))] });
    }
  });
});

describe(`accounts that strangers add to a call of the program that leaves its event undecided (seed ${SEED})`, () => {
  /** A transaction that decides no amount, with more accounts in its calls of the program. */
  const undecidedWith = (tx: ChainTransaction, added: readonly Uint8Array[]): ChainTransaction => {
    const more = added.map((address) => ({ address, writable: true }));
    const given = tx.calls.map((one) =>
      INSTRUCTIONS_WITH_EVENT.has(discriminatorOf(one.data))
        ? { ...one, accounts: [...one.accounts, ...more] }
        : one,
    );
    return { ...tx, calls: [call([47], accountsOf(tx)), ...given] };
  };

  const withOtherMint = (one: Call): Call => {
    const at = INSTRUCTIONS_WITH_EVENT.get(discriminatorOf(one.data))?.accounts.indexOf('mint');
    const accounts = one.accounts.map((account, place) =>
      place === at ? { ...account, address: MINT } : account,
    );
    return { ...one, accounts };
  };

  test("do not count as undecided: only the call's own policy does", () => {
    for (const tx of cut.values()) {
      const { events, undecided } = derived(undecidedWith(tx, [OWN, MINT]));
      expect(events).toEqual([]);
      expect(undecided?.accounts).toEqual([encodeBase58(policyOf(tx))]);
    }
  });

  test('all accounts of a call count as undecided when its mint does not prove which one is the policy', () => {
    for (const tx of cut.values()) {
      const undecided = undecidedWith(tx, []);
      const ofOther = { ...undecided, calls: undecided.calls.map(withOtherMint) };
      const ours = ofOther.calls.filter(({ data }) => INSTRUCTIONS_WITH_EVENT.has(discriminatorOf(data)));
      const given = ours.flatMap(({ accounts }) => accounts.map(({ address }) => encodeBase58(address)));
      expect(new Set(derived(ofOther).undecided?.accounts)).toEqual(new Set(given));
    }
  });

  test('an added policy keeps the event derived from its own call in the same transaction', () => {
    const [tx, theirs] = [cut.get('Routed'), another] as [ChainTransaction, ChainTransaction];
    const balances = [tx, theirs].flatMap(({ tokenBalances }) => tokenBalances());
    const calls = [...undecidedWith(tx, [policyOf(theirs)]).calls, ...theirs.calls];
    const together = derived({ ...tx, calls, tokenBalances: () => balances });
    const [of, ...others] = derived(theirs).events;
    expect(others).toEqual([]);
    expect(together.events).toMatchObject([{ event: 'Routed', of: of?.of, fields: of?.fields }]);
    expect(together.undecided).toEqual({ what: ['Routed'], accounts: [encodeBase58(policyOf(tx))] });
  });
});

describe(`calls of the program that another program makes (seed ${SEED})`, () => {
  const wrapped = (tx: ChainTransaction): ChainTransaction => ({
    ...tx,
    calls: [
      { depth: 1, program: OWN, data: new Uint8Array(0), accounts: [] },
      ...tx.calls.map((one) => ({ ...one, depth: one.depth + 1 })),
    ],
  });
  /** The transaction from a source that does not say how deep inner calls are. */
  const flattened = (tx: ChainTransaction): ChainTransaction => ({
    ...tx,
    depthsTold: false,
    calls: tx.calls.map((one) => ({ ...one, depth: Math.min(one.depth, 2) })),
  });

  test('give the same derived events as calls at top level', () => {
    for (const tx of cut.values()) expect(derived(wrapped(tx))).toEqual(derived(tx));
  });

  test('give no derived event when the depths of inner calls are unknown; calls at top level still do', () => {
    for (const [kind, tx] of cut) {
      expect(derived(flattened(tx))).toEqual(derived(tx));
      const told = derived(flattened(wrapped(tx)));
      expect(told.events).toEqual([]);
      expect(told.undecided?.what).toEqual([kind]);
    }
  });
});

test('the discriminators found in the token client are the nine of the metadata and group interfaces', () => {
  const names = OF_MINTS.map(([name]) => name);
  expect(names).toHaveLength(9);
  expect(
    names.filter((name) => !/^(INITIALIZE|UPDATE|REMOVE|EMIT)_TOKEN_(METADATA|GROUP)/.test(name)),
  ).toEqual([]);
});

describe(`lamports that strangers send to token accounts and have synced (seed ${SEED})`, () => {
  /** The token balances with more lamports counted before and after. */
  const raised = (tx: ChainTransaction, by: { before: bigint; after: bigint }): ChainTransaction => ({
    ...tx,
    tokenBalances: () =>
      tx.tokenBalances().map((held) => ({
        ...held,
        before: held.before === null ? null : held.before + by.before,
        after: held.after === null ? null : held.after + by.after,
      })),
  });
  const moved = (tx: ChainTransaction) => accountsOf(tx).filter((account) => tx.calls.some(names(account)));
  const names = (account: Uint8Array) => (one: Call) =>
    one.accounts.some(({ address }) => sameBytes(address, account));
  const syncs = (tx: ChainTransaction, depth = 1) =>
    tx.tokenBalances().map(({ address }) => call([17], [address], depth));

  test('are not counted in the amounts derived from a call in the same transaction', () => {
    for (const tx of cut.values()) {
      const before = derived(tx);
      expect(moved(tx)).not.toEqual([]);
      const many = raised(tx, { before: 0n, after: 7n });
      expect(derived({ ...many, calls: [...tx.calls, ...syncs(tx)] })).toEqual(before);
      expect(derived({ ...many, calls: [...syncs(tx), ...tx.calls, ...syncs(tx)] })).toEqual(before);
      // A sync may have found no new lamports.
      expect(derived({ ...tx, calls: [...tx.calls, ...syncs(tx, 2)] })).toEqual(before);
      expect(derived({ ...tx, calls: [...syncs(tx), ...syncs(tx), ...tx.calls] })).toEqual(before);
    }
  });

  test('are part of the route when synced before it; synced only after it, no event is derived', () => {
    const tx = cut.get('Routed') as ChainTransaction;
    const less = raised(tx, { before: -1n, after: 0n });
    expect(derived({ ...less, calls: [...syncs(tx), ...tx.calls] })).toEqual(derived(tx));
    expect(derived({ ...less, calls: [...tx.calls, ...syncs(tx)] }).events).toEqual([]);
    const both = raised(tx, { before: -1n, after: 1n });
    expect(derived({ ...both, calls: [...syncs(tx), ...tx.calls, ...syncs(tx)] })).toEqual(derived(tx));
  });

  test('leave no event derived when no sync at top level explains them, or when lamports are missing', () => {
    for (const tx of cut.values()) {
      const more = raised(tx, { before: 0n, after: 1n });
      expect(derived(more).events).toEqual([]);
      expect(derived({ ...more, calls: [...tx.calls, ...syncs(tx, 2)] }).events).toEqual([]);
      const fewer = raised(tx, { before: 1n, after: 0n });
      expect(derived({ ...fewer, calls: [...syncs(tx), ...tx.calls] }).events).toEqual([]);
    }
  });
});

describe(`token calls below a call of the program (seed ${SEED})`, () => {
  const ONE = [1, 0, 0, 0, 0, 0, 0, 0];
  const isOurs = ({ data }: Call) => INSTRUCTIONS_WITH_EVENT.has(discriminatorOf(data));
  /** The transaction with one more inner call in its program call, before all others. */
  const withBelow = (tx: ChainTransaction, accounts: readonly Uint8Array[]): ChainTransaction => ({
    ...tx,
    calls: tx.calls.flatMap((one) =>
      isOurs(one) ? [one, call([3, ...ONE], accounts, one.depth + 1)] : [one],
    ),
  });
  const heldBefore = (tx: ChainTransaction, account: Uint8Array, more: bigint): ChainTransaction => ({
    ...tx,
    tokenBalances: () =>
      tx.tokenBalances().map((held) => {
        const isIt = sameBytes(held.address, account);
        return isIt && held.before !== null ? { ...held, before: held.before + more } : held;
      }),
  });

  test('give no event when one more transfer goes the other way, though balances and transfers agree', () => {
    for (const [kind, tx] of cut) {
      const of = policyTokenAccounts(decodeKey(chain.programId) as Uint8Array, policyOf(tx));
      const taken = new Map([
        ['Routed', of.quoteEscrow],
        ['BuybackBurned', of.holderRewards],
      ]);
      const account = taken.get(kind) ?? of.bankroll;
      const other =
        kind === 'FeesClaimed'
          ? withBelow(heldBefore(tx, of.quoteEscrow, 1n), [of.quoteEscrow, OWN])
          : withBelow(heldBefore(tx, account, -1n), [OWN, account]);
      expect(derived(other), kind).toMatchObject({ events: [], undecided: { what: [kind] } });
    }
  });

  const below = (tx: ChainTransaction) => tx.calls.filter((one) => isTokenCall(one) && one.depth > 1);

  test('give the same events when they are made together as one batch', () => {
    for (const [kind, tx] of cut) {
      const inner = below(tx);
      const first = inner[0] as Call;
      const data = [255, ...inner.flatMap((one) => [one.accounts.length, one.data.length, ...one.data])];
      const accounts = inner.flatMap((one) => one.accounts.map(({ address }) => address));
      const together = call(data, accounts, first.depth);
      const calls = tx.calls.flatMap((one) =>
        one === first ? [together] : inner.includes(one) ? [] : [one],
      );
      expect(derived({ ...tx, calls }), kind).toEqual(derived(tx));
    }
    expect(below(cut.get('Routed') as ChainTransaction).length).toBeGreaterThan(1);
  });

  test('give no event when the quote mint of the call is not that of its accounts', () => {
    for (const tx of cut.values()) {
      const calls = tx.calls.map((one) => {
        const at = INSTRUCTIONS_WITH_EVENT.get(discriminatorOf(one.data))?.accounts.indexOf('quote_mint');
        const accounts = one.accounts.map((account, place) =>
          place === at ? { ...account, address: OWN } : account,
        );
        return { ...one, accounts };
      });
      expect(derived({ ...tx, calls }).events).toEqual([]);
    }
  });

  test('give the amount received after a transfer fee, and no event when the fee call is cut short', () => {
    const tx = cut.get('FeesClaimed') as ChainTransaction;
    const amountOf = (data: Uint8Array) => Buffer.from(data).readBigUInt64LE(1);
    const withFee = (one: Call): Call => {
      const data = Buffer.alloc(19);
      data.set([26, 1]);
      data.writeBigUInt64LE(amountOf(one.data) + 7n, 2);
      data[10] = 6;
      data.writeBigUInt64LE(7n, 11);
      const [from, ...rest] = one.accounts.map(({ address }) => address);
      const accounts = one.data[0] === 3 ? [from, MINT, ...rest] : [from, ...rest];
      return call([...data], accounts as Uint8Array[], one.depth);
    };
    const inner = below(tx);
    expect(inner.length).toBeGreaterThan(0);
    const calls = tx.calls.map((one) => (inner.includes(one) ? withFee(one) : one));
    // The paying account is not the policy's: what left the policy is not decided by it.
    expect(derived({ ...tx, calls })).toEqual(derived(tx));
    const cutShort = calls.map((one) =>
      one.data[0] === 26 ? { ...one, data: one.data.subarray(0, 18) } : one,
    );
    expect(derived({ ...tx, calls: cutShort }).events).toEqual([]);
  });

  test('give no route when one more recipient gets a share of each transfer', () => {
    const tx = cut.get('Routed') as ChainTransaction;
    const inner = below(tx);
    const split = inner.flatMap((one) => {
      const data = Buffer.from(one.data);
      data.writeBigUInt64LE(data.readBigUInt64LE(1) - 1n, 1);
      const [from] = one.accounts.map(({ address }) => address);
      return [{ ...one, data: Uint8Array.from(data) }, call([3, ...ONE], [from ?? OWN, OWN], one.depth)];
    });
    const calls = [...tx.calls.filter((one) => !inner.includes(one)), ...split];
    expect(derived({ ...tx, calls })).toMatchObject({ events: [], undecided: { what: ['Routed'] } });
  });

  test('give no deployment when tokens were burned, or when another amount than requested was moved', () => {
    const tx = cut.get('PassiveDeployed') as ChainTransaction;
    const asked = tx.calls.find(isOurs)?.data ?? [];
    const moved = (one: Call) => [3, 12].includes(one.data[0] ?? 0) && one.depth > 1;
    expect(tx.calls.filter(moved)).toHaveLength(1);
    const burned = tx.calls.map((one) =>
      moved(one) ? call([8, ...asked.slice(8, 16)], [one.accounts[0]?.address ?? OWN, MINT], one.depth) : one,
    );
    const more = tx.calls.map((one) =>
      isOurs(one) ? { ...one, data: one.data.map((byte, at) => (at === 8 ? byte ^ 1 : byte)) } : one,
    );
    for (const calls of [burned, more])
      expect(derived({ ...tx, calls })).toMatchObject({
        events: [],
        undecided: { what: ['PassiveDeployed'] },
      });
  });
});
